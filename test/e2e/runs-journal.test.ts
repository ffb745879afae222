import fc from "fast-check";
import { expect, test } from "vitest";
import { sha256 } from "../../src/base/index.js";
import type { Result } from "../../src/protocol/index.js";
import { stateHash } from "../../src/runs/fold/reduce.js";
import { RawJournal } from "../support/journal.js";
import type { ServerTurn } from "../support/model-server/script.js";
import { reached } from "../support/mortal-gateway.js";
import { calls, type RunScene, runStage, says, verifyAll } from "../support/runs.js";
import { onEachStore } from "../support/stores.js";

type JournalEvent = Result<"run/journal">["data"][number];

const REF = expect.stringMatching(/^sha256:[0-9a-f]{64}$/);
const HASH = expect.stringMatching(/^[0-9a-f]{64}$/);
const INTENT = expect.stringMatching(/^int_[0-9a-f]{24}$/);

/** What is of interest of an event: without its place in the chain. */
function facts({ seq, at, prev, state, hash, ...rest }: JournalEvent): object {
  expect({ seq, at, prev, state, hash }).toEqual({
    seq: expect.any(Number),
    at: expect.any(Number),
    prev: seq === 1 ? "" : HASH,
    state: HASH,
    hash: HASH,
  });
  return rest;
}

onEachStore("the journal of a run", (kind) => {
  const stage = runStage(kind);

  test("[JRN10] a run with a tool: asked for, compiled, asked, answered, called, answered, and again, and its end", async () => {
    const scene = await stage.scene();
    const usage = { input: 12, output: 3 };
    scene.plays({ steps: [...calls("system_time").steps, { usage }] }, says("It is late."));
    const thread = await scene.start();
    const run = await scene.answered(thread.id, "What time is it?", { idempotency_key: "k1" });
    const [asked, first, generate, answered, called, timed, second, again, last, ended] = await scene.journal(
      run.id,
    );
    const { id: run_id, user_message_id, agent_message_id, agent_id, model } = run;
    expect(facts(asked as JournalEvent)).toEqual({
      type: "run.requested",
      run_id,
      number: 1,
      config: REF,
      input: REF,
      user_message_id,
      agent_message_id,
      agent_id,
      model,
      content: "What time is it?",
      idempotency_key: "k1",
    });
    expect(facts(first as JournalEvent)).toEqual({
      type: "prompt.compiled",
      run_id,
      step: 1,
      compiler_version: "1",
      inputs: REF,
      prefix: REF,
      history: { epoch: 1, start: 0, from: 0, to: 1, turn: 0, list_hash: HASH },
      tokens_estimate: expect.any(Number),
      request_hash: HASH,
    });
    expect(facts(generate as JournalEvent)).toEqual({
      type: "effect.requested",
      run_id,
      intent_id: INTENT,
      kind: "llm.generate",
      params_hash: HASH,
    });
    expect(facts(answered as JournalEvent)).toEqual({
      type: "effect.receipt",
      run_id,
      intent_id: generate?.intent_id,
      status: "ok",
      result: REF,
      finish: "tool_calls",
      calls: [{ call_id: "call_1", name: "system_time", arguments_hash: sha256("{}") }],
      usage: { ...usage, cached_input: 0, reasoning: 0 },
      request_sha256: sha256(await scene.received(0)),
      url: `${scene.model.url}/v1/chat/completions`,
    });
    expect(facts(called as JournalEvent)).toMatchObject({
      type: "effect.requested",
      kind: "tool.call",
      intent_id: INTENT,
    });
    expect(facts(timed as JournalEvent)).toEqual({
      type: "effect.receipt",
      run_id,
      intent_id: called?.intent_id,
      status: "ok",
      result: REF,
      duration_ms: expect.any(Number),
    });
    expect(second).toMatchObject({ type: "prompt.compiled", step: 2, history: { to: 3, turn: 0 } });
    expect(again).toMatchObject({ type: "effect.requested", kind: "llm.generate" });
    expect(last).toMatchObject({ type: "effect.receipt", status: "ok", finish: "stop" });
    expect(facts(ended as JournalEvent)).toEqual({ type: "run.completed", run_id });
    await verifyAll(scene);
  });

  test("[JRN11] steered, edited while it waits, removed, failed: each is an event of its run, with what it is about", async () => {
    const scene = await stage.scene();
    scene.plays({ steps: [{ text: "Be" }, { hang: true }] }, { steps: [{ status: 400, body: "no" }] });
    const thread = await scene.start();
    const { run } = await scene.startRun(thread.id, "one");
    const waiting = await scene.startRun(thread.id, "two", { config: { max_tokens: 50 } });
    const removed = await scene.startRun(thread.id, "three");
    await reached(async () => expect((await typesOf(scene, run.id)).at(-1)).toBe("effect.progress"));
    const steered = await scene.wire.result("run/steer", { run_id: run.id, content: "mind this" });
    await scene.wire.result("run/update", { run_id: waiting.run.id, content: "two, edited" });
    await scene.wire.result("run/cancel", { run_id: removed.run.id });
    await scene.wire.result("run/cancel", { run_id: run.id });
    await scene.ended(waiting.run.id);
    const events = await scene.journal(run.id);
    expect(events.find(({ type }) => type === "effect.progress")).toMatchObject({ text: "Be" });
    expect(facts(events.find(({ type }) => type === "run.steered") as JournalEvent)).toEqual({
      type: "run.steered",
      run_id: run.id,
      input: REF,
      user_message_id: steered.message.id,
      agent_message_id: expect.any(String),
      content: "mind this",
    });
    expect(events.slice(-2)).toMatchObject([
      { type: "effect.receipt", status: "cancelled" },
      { type: "run.cancelled" },
    ]);
    const [asked, anew] = await scene.journal(waiting.run.id);
    expect(asked).toMatchObject({ content: "two", overrides: { max_tokens: 50 } });
    expect(anew).toMatchObject({
      type: "run.requested",
      number: 2,
      content: "two, edited",
      overrides: { max_tokens: 50 },
    });
    expect(anew?.config).toBe(asked?.config);
    expect((await scene.journal(waiting.run.id)).at(-1)).toMatchObject({
      type: "run.failed",
      error: { code: expect.stringMatching(/^provider\./), message: expect.any(String) },
    });
    expect(await typesOf(scene, removed.run.id)).toEqual(["run.requested", "run.cancelled"]);
    await verifyAll(scene);
  });

  test("[JRN12] random commands at once: what was refused is not in the journal, what was accepted is, once, and the fold gives the lists", async () => {
    const numRuns = kind.name === "sqlite" ? 8 : 4;
    await fc.assert(
      fc.asyncProperty(fc.array(command, { minLength: 10, maxLength: 40 }), (list) => play(list)),
      {
        numRuns,
        endOnFailure: true,
      },
    );
  }, 120_000);

  /** Three clients at once, each with a part of the commands. */
  async function play(commands: readonly Command[]): Promise<void> {
    const scene = await stage.scene();
    scene.model.play(anything);
    const { id } = await scene.start();
    const known: string[] = [];
    const accepted: string[] = [];
    const client = async (part: number) => {
      for (const one of commands.filter((_, index) => index % 3 === part))
        accepted.push(await carryOut(scene, id, one, known));
    };
    await Promise.all([0, 1, 2].map(client));
    for (const run_id of known) await scene.ended(run_id);
    const journal = new RawJournal(stage, { workspace_id: scene.workspace_id, thread_id: id });
    const folded = await journal.folded();
    expect(folded.map(({ state }) => stateHash(state))).toEqual(folded.map(({ recorded }) => recorded));
    const asked = (types: readonly string[]) => types.filter((type) => COMMANDED.has(type)).sort();
    expect(asked(folded.map(({ type }) => type))).toEqual(asked(accepted));
    expect(folded.filter(({ type }) => ENDS.has(type)).length).toBe(known.length);
    const rows = folded.at(-1)?.rows.toSorted((a, b) => a.number - b.number) ?? [];
    expect(rows).toEqual(await journal.runs());
    await verifyAll(scene);
  }

  test("[JRN15] pages give every event of a run once, in order, without what others did meanwhile", async () => {
    const scene = await stage.scene();
    scene.plays(calls("system_time"), { steps: [{ text: "a" }, { delay_ms: 50 }] }, says("b"), says("c"));
    const thread = await scene.start();
    const { run } = await scene.startRun(thread.id, "one");
    const others = [await scene.startRun(thread.id, "two"), await scene.startRun(thread.id, "three")];
    for (const other of others) await scene.ended(other.run.id);
    const whole = await scene.journal(run.id);
    expect(new Set(whole.map(({ run_id }) => run_id))).toEqual(new Set([run.id]));
    for (const limit of [1, 2, 3, 7, 100]) expect(await paged(scene, run.id, limit)).toEqual(whole);
    const second = others[0]?.run.id as string;
    expect(await paged(scene, second, 2)).toEqual(await scene.journal(second));
    // What a page shows is what was hashed, and the chain runs through all runs of the thread.
    const all = [
      ...whole,
      ...(await scene.journal(second)),
      ...(await scene.journal(others[1]?.run.id as string)),
    ];
    const bySeq = new Map(all.map((event) => [event.seq, event]));
    expect([...bySeq.keys()].sort((a, b) => a - b)).toEqual(all.map((_, at) => at + 1));
    for (const { hash, ...event } of all) {
      expect(sha256(JSON.stringify(event))).toBe(hash);
      expect(event.prev).toBe(bySeq.get(event.seq - 1)?.hash ?? "");
    }
    expect(await scene.wire.error("run/journal", { run_id: run.id, cursor: "nonsense" })).toMatchObject({
      code: -32602,
    });
    expect(await scene.wire.error("run/journal", { run_id: "run_none" })).toMatchObject({
      data: { kind: "run.not_found" },
    });
  });
});

const ENDS = new Set(["run.completed", "run.failed", "run.cancelled", "run.interrupted"]);

const COMMANDED = new Set(["run.requested", "run.steered"]);

interface Command {
  readonly what: "run/start" | "run/steer" | "run/update" | "run/cancel";
  readonly at: number;
}

const command: fc.Arbitrary<Command> = fc.record({
  what: fc.constantFrom("run/start", "run/start", "run/steer", "run/update", "run/cancel"),
  at: fc.nat(9),
});

/** Sends a command for one of the runs that are known. Answers which event it must have led to, if it was accepted. */
async function carryOut(
  scene: RunScene,
  thread_id: string,
  { what, at }: Command,
  known: string[],
): Promise<string> {
  const run_id = known[at % Math.max(1, known.length)] ?? "run_none";
  const params = what === "run/start" ? { thread_id } : { run_id };
  const content = what === "run/cancel" ? {} : { content: `do ${at}` };
  const { result } = await scene.wire.call(what, { ...params, ...content });
  if (!result) return "refused";
  if (what === "run/start") known.push(result.run.id);
  if (what === "run/cancel") return "cancelled";
  return what === "run/steer" ? "run.steered" : "run.requested";
}

/** Some answer, sooner or later. */
function anything(body: string): ServerTurn {
  const steps = [{ delay_ms: body.length % 7 }, { text: "Well." }];
  return body.length % 3 === 0 && !body.includes('"role":"tool"') ? calls("system_time") : { steps };
}

async function typesOf(scene: RunScene, run_id: string): Promise<string[]> {
  return (await scene.journal(run_id)).map(({ type }) => type);
}

async function paged(scene: RunScene, run_id: string, limit: number): Promise<JournalEvent[]> {
  const events: JournalEvent[] = [];
  for (let cursor: string | undefined; ; ) {
    const page = await scene.wire.result("run/journal", { run_id, limit, cursor });
    expect(page.data.length).toBeLessThanOrEqual(limit);
    events.push(...page.data);
    cursor = page.next_cursor;
    if (cursor === undefined) return events;
  }
}
