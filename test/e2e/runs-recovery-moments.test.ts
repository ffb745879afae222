import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { Run } from "../../src/protocol/index.js";
import type { ServerTurn } from "../support/model-server/script.js";
import { type ModelServer, startModelServer } from "../support/model-server/server.js";
import { World } from "../support/moments.js";
import { reached } from "../support/mortal-gateway.js";
import { agentAt, type RunScene, verifyAll } from "../support/runs.js";
import { temporaryDirectory } from "../support/stores.js";
import { traceOf } from "../support/tracing-tools.js";

interface Scenario {
  /** What the model says follows from what it is told, so that it does not matter who asks it again. */
  readonly turns: ServerTurn[];
  /** Answers the ids of messages once they are acknowledged. */
  act(scene: RunScene, thread_id: string, acknowledged: (id: string) => void): Promise<void>;
}

/** Plays a scenario, and then lets a gateway take up every state that was on disk meanwhile. Answers how runs ended then. */
async function fromEveryMoment({ turns, act }: Scenario): Promise<string[][]> {
  const world = new World();
  const model = await startModelServer([still, ...turns].map((turn) => ({ ...turn, repeat: true })));
  onTestFinished(() => model.close());
  writeFileSync(
    join(world.parts.data, "heddle.config.json"),
    JSON.stringify({ agents: [agentAt(model.url)] }),
  );
  const { scene, stop } = await world.live(model);
  const thread = await scene.start();
  const acknowledged: { readonly id: string; readonly since: number }[] = [];
  const stopKeeping = world.keepMoments();
  await act(scene, thread.id, (id) => acknowledged.push({ id, since: world.moments.length }));
  await atRest(scene);
  stopKeeping();
  await stop();
  const ends: string[][] = [];
  for (const [at, moment] of world.moments.entries()) {
    world.bringBack(moment);
    const ids = acknowledged.filter(({ since }) => since <= at).map(({ id }) => id);
    ends.push(await takenUp(world, model, { thread_id: thread.id, acknowledged: ids, what: `moment ${at}` }));
  }
  expect(model.requests.flatMap(({ body }) => wrongCalls(body))).toEqual([]);
  return ends;
}

async function atRest(scene: RunScene): Promise<Run[]> {
  return reached(async () => {
    const runs = await scene.runs();
    expect(runs.filter(({ ended_at }) => ended_at === undefined)).toEqual([]);
    return runs;
  });
}

const still = { when: "Are you there?", steps: [{ text: "Still here." }] };

async function takenUp(
  world: World,
  model: ModelServer,
  { thread_id, acknowledged, what }: { thread_id: string; acknowledged: readonly string[]; what: string },
): Promise<string[]> {
  const { scene, stop } = await world.live(model);
  const runs = await atRest(scene);
  await scene.answered(thread_id, "Are you there?");
  const messages = await scene.messages(thread_id);
  for (const { id, status } of runs) {
    // However often it was closed for what was steered: its last message says how it ended.
    const last = messages.findLast(({ role, run_id }) => role === "agent" && run_id === id);
    expect(last?.stopReason, `${what}: ${status}`).toBe(status === "completed" ? "end_turn" : status);
  }
  const refs = messages.flatMap(({ content }) => content.flatMap(({ toolCallId }) => toolCallId ?? []));
  expect(new Set(refs).size, `${what}: calls in the log`).toBe(refs.length);
  const ids = messages.map(({ id }) => id);
  expect(new Set(ids).size, what).toBe(ids.length);
  expect(
    ids.filter((id) => acknowledged.includes(id)),
    what,
  ).toEqual(acknowledged);
  const begun = traceOf(world.parts.traces, "test_write").filter((line) => line.startsWith("begin"));
  expect(new Set(begun).size, what).toBe(begun.length);
  expect((await scene.get(thread_id)).status, what).toBe("idle");
  await verifyAll(scene);
  await stop();
  return runs.map(({ status }) => status).reverse();
}

/** Calls in a request that are told twice, or that nobody answered before somebody else spoke: an API refuses both. */
function wrongCalls(body: string): string[] {
  const { messages } = JSON.parse(body) as {
    messages: { role: string; tool_calls?: { id: string }[]; tool_call_id?: string }[];
  };
  const all = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
  const wrong = all.filter((id, at) => all.indexOf(id) !== at);
  let open: string[] = [];
  for (const { role, tool_calls = [], tool_call_id } of messages) {
    if (role === "tool") open = open.filter((id) => id !== tool_call_id);
    else {
      wrong.push(...open);
      open = tool_calls.map(({ id }) => id);
    }
  }
  return [...wrong, ...open];
}

const call = (name: string, id: string) => ({
  tool_call: { id, name, arguments: JSON.stringify(name === "system_time" ? {} : { id, ms: 10 }) },
});
const afterWrite = [{ thinking: "Done" }, { text: "Almost " }, { delay_ms: 300 }, { text: "done." }];
const several = [call("test_write", "write_1"), call("test_look", "look_1"), call("system_time", "time_1")];
const working: ServerTurn[] = [
  { when: "second question", steps: [{ text: "Second answer." }] },
  { when: "mind this", steps: [{ text: "I do." }] },
  { when: "was not called again", steps: [{ text: "I leave it." }] },
  { when: "traced write_2", steps: afterWrite },
  { when: "traced look_1", steps: [{ text: "Next." }, call("test_write", "write_2")] },
  { when: "first question", steps: [{ text: "I look." }, ...several] },
];

test("[RCV20] a run with tools, a message for it in mid-run, a run that waits: from every state on disk all of it is brought to its end", async () => {
  const ends = await fromEveryMoment({
    turns: working,
    async act(scene, thread_id, acknowledged) {
      const { run, message } = await scene.startRun(thread_id, "first question");
      acknowledged(message.id);
      await reached(async () => expect((await scene.getRun(run.id)).steps).toBe(2));
      const steered = await scene.wire.result("run/steer", { run_id: run.id, content: "mind this" });
      acknowledged(steered.message.id);
      acknowledged((await scene.startRun(thread_id, "second question")).message.id);
    },
  });
  // It would prove little if nearly nothing had been seen on the way.
  expect(ends.length).toBeGreaterThan(20);
  expect(ends.at(-1)).toEqual(["completed", "completed"]);
  expect(new Set(ends.map((statuses) => statuses[0]))).toContain("completed");
}, 120_000);

test("[RCV20] a run that is cancelled in mid-answer: from every state on disk it goes on, or has ended as far as it was", async () => {
  const waiting = join(temporaryDirectory(), "waiting");
  writeFileSync(waiting, "");
  const ends = await fromEveryMoment({
    turns: [
      { when: "traced look_1", steps: [{ text: "It " }, { while_there: waiting }, { text: "was." }] },
      { when: "first question", steps: several.slice(1) },
    ],
    async act(scene, thread_id, acknowledged) {
      const { run, message } = await scene.startRun(thread_id, "first question");
      acknowledged(message.id);
      const types = async () => (await scene.journal(run.id)).map(({ type }) => type);
      await reached(async () => expect(await types()).toContain("effect.progress"));
      await scene.wire.result("run/cancel", { run_id: run.id });
      rmSync(waiting);
    },
  });
  expect(ends.at(-1)).toEqual(["cancelled"]);
  const seen = new Set(ends.flat());
  expect([...seen].sort()).toEqual(["cancelled", "completed", "interrupted"]);
});

test("[RCV23] the next messages of a thread at rest: from every state on disk each stands in the log once, in order, and is told once", async () => {
  const questions = ["first question", "second question", "third question"];
  const slow = [{ delay_ms: 20 }, { text: "Third answer." }];
  const world = new World();
  const model = await startModelServer(
    [
      still,
      { when: "third question", steps: slow },
      { when: "second question", steps: [{ text: "Second answer." }] },
      { when: "first question", steps: [{ text: "First answer." }] },
    ].map((turn) => ({ ...turn, repeat: true })),
  );
  onTestFinished(() => model.close());
  writeFileSync(
    join(world.parts.data, "heddle.config.json"),
    JSON.stringify({ agents: [agentAt(model.url)] }),
  );
  const { scene, stop } = await world.live(model);
  const { id } = await scene.start();
  await scene.answered(id, "first question");
  const before = (await scene.runs()).length;
  const stopKeeping = world.keepMoments();
  for (const question of questions.slice(1)) await scene.answered(id, question);
  stopKeeping();
  await stop();
  const log = join(".agent", "threads", id, "messages.jsonl");
  let compiledFirst = 0;
  for (const [at, moment] of world.moments.entries()) {
    const logged = readFileSync(join(moment, "root", log), "utf8").split("\n").length - 1;
    world.bringBack(moment);
    const { scene, stop } = await world.live(model);
    const runs = await atRest(scene);
    if (logged < 2 * (runs.length - before) + 1) compiledFirst++;
    const texts = (await scene.messages(id)).map(({ content }) => content[0]?.text);
    const answers = ["First answer.", "Second answer.", "Third answer."];
    const whole = questions.flatMap((question, number) => [question, answers[number]]);
    expect(texts, `moment ${at}`).toEqual(whole.slice(0, 2 * runs.length));
    await scene.answered(id, "Are you there?");
    const { messages } = JSON.parse(model.requests.at(-1)?.body ?? "{}");
    const told = messages.filter(({ role }: { role: string }) => role === "user");
    expect(
      told.map(({ content }: { content: string }) => content),
      `moment ${at}`,
    ).toEqual([...questions.slice(0, runs.length), "Are you there?"]);
    await verifyAll(scene);
    await stop();
  }
  // A run that was told its question before the log had it must have been among them.
  expect(compiledFirst).toBeGreaterThan(0);
}, 120_000);

test("[RCV22] killed after messages were written to the log and before the index knew of them: each is told once", async () => {
  const world = new World();
  const turns = [{ when: "mind this", steps: [{ text: "I do." }] }, ...working];
  const model = await startModelServer(turns.map((turn) => ({ ...turn, repeat: true })));
  onTestFinished(() => model.close());
  writeFileSync(
    join(world.parts.data, "heddle.config.json"),
    JSON.stringify({ agents: [agentAt(model.url)] }),
  );
  const first = await world.live(model);
  const { id } = await first.scene.start();
  const stopKeeping = world.keepMoments();
  const { run } = await first.scene.startRun(id, "first question");
  await reached(async () => expect((await first.scene.getRun(run.id)).steps).toBe(2));
  for (const content of ["mind this", "mind this too"])
    await first.scene.wire.result("run/steer", { run_id: run.id, content });
  await atRest(first.scene);
  stopKeeping();
  await first.stop();
  const log = join(".agent", "threads", id, "messages.jsonl");
  const lines = (root: string) =>
    existsSync(join(root, log)) ? readFileSync(join(root, log), "utf8").split("\n").slice(0, -1) : [];
  const whole = lines(world.parts.root);
  let ahead = 0;
  for (const [at, moment] of world.moments.entries()) {
    const known = lines(join(moment, "root")).length;
    for (const more of [...new Set([0, at % 3])].filter(
      (count) => known > 0 && known + count <= whole.length,
    )) {
      world.bringBack(moment, ["data", "traces"]);
      // The same file, as a process that was killed leaves it.
      writeFileSync(join(world.parts.root, log), `${whole.slice(0, known + more).join("\n")}\n`);
      const { scene, stop } = await world.live(model);
      await atRest(scene);
      await scene.wire.result("subscribe", { workspace_id: scene.workspace_id, after_seq: 0 });
      const { seq } = await scene.wire.result("subscribe", { workspace_id: scene.workspace_id });
      await reached(async () => expect(scene.wire.notifications().length).toBeGreaterThanOrEqual(seq));
      const seen = new Map(
        scene.wire.notifications("message/appended").map(({ params }) => [params.seq, params.message.id]),
      );
      const told = [...seen.values()];
      expect(new Set(told).size, `moment ${at}, ${more} more: ${told.join(" ")}`).toBe(told.length);
      await stop();
      ahead++;
    }
  }
  expect(ahead).toBeGreaterThan(10);
}, 120_000);
