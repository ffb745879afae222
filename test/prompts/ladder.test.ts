import { expect, test } from "vitest";
import { type LadderInput, packsToLoad, resolveLadder } from "../../src/prompts/ladder.js";
import { loadActivePacks } from "../../src/prompts/packs/state.js";
import type { PromptSnapshot, RunConfig, ThreadConfig } from "../../src/protocol/index.js";
import { deleteWorkspace } from "../../src/tree/index.js";
import { message, onEachBench } from "./support.js";

const ref = (digit: string) => `sha256:${digit.repeat(64)}`;

const snapshot = (pack: string): PromptSnapshot => ({
  workspace: "ws",
  root_hash: ref("9"),
  prompt_pack: pack,
  prompt_pack_ref: ref("8"),
  taken_at: 1,
});

const activePack: LadderInput["activePack"] = (pack) =>
  pack.startsWith("synced") ? snapshot(pack) : undefined;

/** What a field may be, and what it comes to. */
const runRefs = { absent: undefined, null: null, set: [ref("1"), ref("0")] };
const threadRefs = { absent: undefined, set: [ref("2")] };
const runPack = { absent: undefined, null: null, set: "synced-run", "not synced": "unsynced-run" };
const threadPack = { absent: undefined, set: "synced-thread", "not synced": "unsynced-thread" };
const named = { agentId: "a", displayName: "Ada", description: "Counts." };
const agents = {
  "with a prompt": { ...named, systemPrompt: "Count to three." },
  "with an empty prompt": { ...named, systemPrompt: "" },
  "with a blank prompt": { ...named, systemPrompt: " \n" },
  "with name and description": named,
  "with a name only": { ...named, description: "" },
  none: undefined,
};

const given = (entries: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));

interface Case {
  readonly runRefs: keyof typeof runRefs;
  readonly threadRefs: keyof typeof threadRefs;
  readonly runPack: keyof typeof runPack;
  readonly threadPack: keyof typeof threadPack;
  readonly agent: keyof typeof agents;
}

function inputOf(the: Case): LadderInput {
  const agent = agents[the.agent];
  return {
    run: given({ prompt_refs: runRefs[the.runRefs], prompt_pack: runPack[the.runPack] }) as RunConfig,
    thread: given({
      default_prompt_refs: threadRefs[the.threadRefs],
      default_prompt_pack: threadPack[the.threadPack],
    }) as ThreadConfig,
    ...(agent && { agent }),
    activePack,
  };
}

const fromAgent = {
  "with a prompt": { source: "agent", text: "Count to three.", shadowed: [] },
  "with an empty prompt": { source: "agent_default", text: "You are Ada. Counts.", shadowed: [] },
  "with a blank prompt": { source: "agent_default", text: "You are Ada. Counts.", shadowed: [] },
  "with name and description": { source: "agent_default", text: "You are Ada. Counts.", shadowed: [] },
  "with a name only": { source: "agent_default", text: "You are Ada.", shadowed: [] },
  none: { source: "default", text: expect.stringMatching(/\S/), shadowed: [] },
};

/** The ladder in plain words, rung by rung. */
function expected(the: Case): object {
  const pack = the.runPack === "absent" ? threadPack[the.threadPack] : (runPack[the.runPack] ?? undefined);
  const lostPack = (by: string) => (pack === undefined ? [] : [{ source: "prompt_pack", by, name: pack }]);
  if (the.runRefs === "set") {
    const lostRefs = the.threadRefs === "set" ? [{ source: "thread_refs", by: "run_refs" }] : [];
    return { source: "run_refs", refs: runRefs.set, shadowed: [...lostRefs, ...lostPack("run_refs")] };
  }
  if (the.runRefs === "absent" && the.threadRefs === "set")
    return { source: "thread_refs", refs: threadRefs.set, shadowed: lostPack("thread_refs") };
  if (pack?.startsWith("unsynced")) return { kind: "prompt.not_synced", pack };
  if (pack !== undefined)
    return { source: "prompt_pack", refs: [ref("8")], pack: snapshot(pack), shadowed: [] };
  return fromAgent[the.agent];
}

function resolved(input: LadderInput): object {
  try {
    return resolveLadder(input);
  } catch (error) {
    const { kind, data } = error as { kind: string; data: object };
    return { kind, ...data };
  }
}

const keys = <T extends object>(of: T) => Object.keys(of) as (keyof T)[];

const cases: Case[] = keys(runRefs).flatMap((run) =>
  keys(threadRefs).flatMap((thread) =>
    keys(runPack).flatMap((ofRun) =>
      keys(threadPack).flatMap((ofThread) =>
        keys(agents).map((agent) => ({
          runRefs: run,
          threadRefs: thread,
          runPack: ofRun,
          threadPack: ofThread,
          agent,
        })),
      ),
    ),
  ),
);

test("[PRM1] [PRM2] [PRM3] [PRM4] [PRM5] every combination of what is set has one base prompt", () => {
  expect(cases.length).toBe(3 * 2 * 4 * 3 * 6);
  for (const the of cases) {
    const input = inputOf(the);
    const before = JSON.stringify(input);
    const found = resolved(input);
    expect(found, JSON.stringify(the)).toEqual(expected(the));
    expect(resolved(input), "asked again").toEqual(found);
    expect(JSON.stringify(input), "left as it was").toBe(before);
  }
});

test("[PRM1] without anything set the prompt is the agent's, and a run may be without settings", () => {
  expect(resolveLadder({ thread: {}, agent: agents["with a prompt"], activePack })).toEqual(
    fromAgent["with a prompt"],
  );
  const { text } = resolveLadder({ thread: {}, activePack });
  expect(resolveLadder({ run: {}, thread: {}, activePack }).text).toBe(text);
});

test("[PRM3] a pack that is not used is not asked for", () => {
  const asked: string[] = [];
  const counting: LadderInput["activePack"] = (pack) => {
    asked.push(pack);
    return undefined;
  };
  const thread = { default_prompt_pack: "p", default_prompt_refs: [ref("1")] };
  resolveLadder({ thread, activePack: counting });
  resolveLadder({ thread, run: { prompt_refs: [ref("2")], prompt_pack: "q" }, activePack: counting });
  expect(asked).toEqual([]);
});

test("[PRM6] refs stay in order, and an empty list is an error", () => {
  const refs = ["3", "1", "2", "1"].map(ref);
  expect(resolveLadder({ run: { prompt_refs: refs }, thread: {}, activePack }).refs).toEqual(refs);
  expect(resolved({ run: { prompt_refs: [] }, thread: {}, activePack })).toEqual({
    kind: "prompt.refs_empty",
    source: "run_refs",
  });
  expect(resolved({ thread: { default_prompt_refs: [] }, activePack })).toEqual({
    kind: "prompt.refs_empty",
    source: "thread_refs",
  });
});

test("[PRM7] a binding names the workspace whose packs are meant", () => {
  const workspace_id = "own";
  const bound = { workspace_binding: { workspace: "theirs" }, default_prompt_pack: "p" };
  const run = (config: object) => config as RunConfig;
  expect([
    packsToLoad({ thread: {}, workspace_id }),
    packsToLoad({ thread: { default_prompt_pack: "p" }, workspace_id }),
    packsToLoad({ thread: bound, workspace_id }),
    packsToLoad({ thread: bound, run: run({ workspace_binding: null, prompt_pack: "q" }), workspace_id }),
    packsToLoad({ thread: bound, run: run({ workspace_binding: { workspace: "other" } }), workspace_id }),
    packsToLoad({ thread: bound, run: run({ prompt_pack: null }), workspace_id }),
  ]).toEqual([
    { workspace_id: "own", packs: [] },
    { workspace_id: "own", packs: ["p"] },
    { workspace_id: "theirs", packs: ["p"] },
    { workspace_id: "own", packs: ["q"] },
    { workspace_id: "other", packs: ["p"] },
    { workspace_id: "theirs", packs: [] },
  ]);
});

onEachBench("active packs", (bench) => {
  test("[PRM7] only what is active is loaded, of a workspace that is there", async () => {
    const room = await bench().workspace();
    const load = (workspace_id: string) =>
      bench().store.read(() => loadActivePacks(workspace_id, ["a", "b", "a", "never"]));
    for (const pack of ["a", "b"]) {
      room.write({ [`prompts/packs/${pack}.json`]: message(pack) });
      await room.sync({ pack });
    }
    expect([...(await load(room.id)).keys()]).toEqual([]);
    const { active } = await room.apply({ pack: "a" });
    expect([...(await load(room.id))]).toEqual([["a", active]]);
    expect([...(await load("ws_none"))]).toEqual([]);
    await deleteWorkspace(bench().deps, { workspace_id: room.id }, {});
    expect([...(await load(room.id))]).toEqual([]);
  });
});
