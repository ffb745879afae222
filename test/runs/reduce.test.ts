import fc from "fast-check";
import { expect, test } from "vitest";
import { sha256 } from "../../src/base/index.js";
import type { RunEvent } from "../../src/runs/fold/events.js";
import { reduce, stateHash } from "../../src/runs/fold/reduce.js";
import {
  type ActiveRun,
  awaitsAnswer,
  type Effect,
  IDLE,
  isWaiting,
  type RunsState,
} from "../../src/runs/fold/state.js";

const thread_id = "thr_1";
const runIds = ["run_a", "run_b", "run_c", "run_d"];

/** The id that the effect with this index has when the event stands there. */
const intentAt = (seq: number, index = 0, thread = thread_id) =>
  `int_${sha256(`${thread} ${seq} ${index}`).slice(0, 24)}`;

const run = (run_id: string, number = 1): RunEvent => ({
  type: "run.requested",
  at: 1,
  run_id,
  number,
  config: "sha256:c",
  input: `sha256:${run_id}`,
  user_message_id: `u-${run_id}`,
  agent_message_id: `a-${run_id}`,
  agent_id: "x",
  model: "m",
  content: "hello",
});
const steered = (run_id: string, name: string): RunEvent => ({
  type: "run.steered",
  at: 1,
  run_id,
  input: `sha256:${name}`,
  user_message_id: `u-${name}`,
  agent_message_id: `a-${name}`,
});
const compiled = (run_id: string, step: number): RunEvent => ({
  type: "prompt.compiled",
  at: 1,
  run_id,
  step,
  compiler_version: "1",
  inputs: "sha256:i",
  prefix: "sha256:p",
  history: { epoch: 1, start: 0, from: 0, to: step, turn: 0, list_hash: `l${step}` },
  tokens_estimate: 1,
  request_hash: `r${step}`,
});
const wanted = (run_id: string, { intent_id, kind, params_hash }: Effect): RunEvent => ({
  type: "effect.requested",
  at: 1,
  run_id,
  intent_id,
  kind,
  params_hash,
});
const came = (run_id: string, intent_id: string, text: string): RunEvent => ({
  type: "effect.progress",
  at: 1,
  run_id,
  intent_id,
  text,
});
const receipt = (run_id: string, intent_id: string, more: object = {}): RunEvent =>
  ({ type: "effect.receipt", at: 1, run_id, intent_id, status: "ok", ...more }) as RunEvent;
const handed = (run_id: string, intent_id: string, callback = true): RunEvent => ({
  type: "program.handed",
  at: 1,
  run_id,
  intent_id,
  url: "https://example.com/",
  request: "sha256:q",
  ...(callback && { callback: true as const }),
});
const posted = (run_id: string, intent_id: string): RunEvent => ({
  type: "external.posted",
  at: 1,
  run_id,
  intent_id,
});
const end = (run_id: string, how: "completed" | "failed" | "cancelled" | "interrupted"): RunEvent => ({
  type: `run.${how}`,
  at: 1,
  run_id,
});
const call = (call_id: string) => ({ call_id, name: "system_time", arguments_hash: "h" });

const runId = fc.constantFrom(...runIds);
const intentId = fc.oneof(
  fc
    .tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 2 }))
    .map(([seq, at]) => intentAt(seq, at)),
  fc.constant("int_nobody"),
);
const status = fc.constantFrom("ok", "failed", "cancelled", "interrupted");

/** Any event, whether or not it fits. */
const anyEvent: fc.Arbitrary<RunEvent> = fc.oneof(
  fc.tuple(runId, fc.integer({ min: 1, max: 9 })).map(([id, number]) => run(id, number)),
  fc.tuple(runId, fc.string()).map(([id, name]) => steered(id, name)),
  fc.tuple(runId, fc.integer({ min: 0, max: 4 })).map(([id, step]) => compiled(id, step)),
  fc
    .tuple(runId, intentId, fc.constantFrom("llm.generate" as const, "tool.call" as const), fc.string())
    .map(([id, intent_id, kind, params_hash]) => wanted(id, { intent_id, kind, params_hash })),
  fc.tuple(runId, intentId, fc.string()).map(([id, intent_id, text]) => came(id, intent_id, text)),
  fc.tuple(runId, intentId, fc.boolean()).map(([id, intent_id, callback]) => handed(id, intent_id, callback)),
  fc.tuple(runId, intentId).map(([id, intent_id]) => posted(id, intent_id)),
  fc
    .tuple(runId, intentId, status, fc.array(fc.constantFrom("c1", "c2"), { maxLength: 3 }))
    .map(([id, intent_id, how, calls]) => receipt(id, intent_id, { status: how, calls: calls.map(call) })),
  fc
    .tuple(runId, fc.constantFrom("completed", "failed", "cancelled", "interrupted"))
    .map(([id, how]) => end(id, how as "failed")),
  fc.tuple(runId, fc.string()).map(([run_id, type]) => ({ type, at: 1, run_id }) as unknown as RunEvent),
  fc.constantFrom("run.steered", "effect.receipt", "run.failed").map((type) => ({ type, at: 1 }) as RunEvent),
);

/** Whoever changes what it was given is caught. */
function frozen<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  for (const each of Object.values(value)) frozen(each);
  return Object.freeze(value);
}

interface Folded {
  readonly state: RunsState;
  readonly seq: number;
  readonly accepted: readonly RunEvent[];
}

/** Folds what fits, journaling decided effects right behind the event that led to them, as a session does. */
function foldAll(events: readonly RunEvent[], thread = thread_id): Folded {
  let state = frozen(IDLE);
  let seq = 0;
  const accepted: RunEvent[] = [];
  const take = (event: RunEvent) => {
    const before = stateHash(state);
    const reduced = reduce(state, frozen(structuredClone(event)), { thread_id: thread, seq: seq + 1 });
    if ("rejected" in reduced) {
      expect(reduced.rejected).not.toBe("");
      expect(Object.keys(reduced)).toEqual(["rejected"]);
      expect(stateHash(state)).toBe(before);
      return;
    }
    state = frozen(reduced.state);
    seq += 1;
    accepted.push(event);
    for (const effect of reduced.effects) take(wanted(event.run_id ?? "", effect));
  };
  for (const event of events) take(event);
  return { state, seq, accepted };
}

test("[RUN110] whatever comes is folded or rejected with a reason; nothing throws, nothing given is changed", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 40 }), (events) => {
      const { state } = foldAll(events);
      expectSound(state);
    }),
    { numRuns: 500 },
  );
});

/** What holds of every state that any events lead to. */
function expectSound({ active, queue }: RunsState): void {
  if (!active) expect(queue).toEqual([]);
  const ids = [active, ...queue].flatMap((each) => (each ? [each.run_id] : []));
  expect(new Set(ids).size).toBe(ids.length);
  if (!active) return;
  const open = active.intents.filter((intent) => intent.status === "open");
  expect(active.due).toEqual([]);
  if (active.phase === "model") expect(open.map(({ kind }) => kind)).toEqual(["llm.generate"]);
  else if (active.phase === "tools") expect(open.map(({ kind }) => kind)).toContain("tool.call");
  else expect(open).toEqual([]);
}

test("[RUN111] intents are derived from thread, number and index: the same whenever it is folded", () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 40 }), (events) => {
      const { state, accepted } = foldAll([...walk(), ...events]);
      let again: RunsState = IDLE;
      for (const [at, event] of accepted.entries()) {
        const reduced = reduce(again, event, { thread_id, seq: at + 1 });
        if ("rejected" in reduced) throw new Error(reduced.rejected);
        again = reduced.state;
        for (const [index, { intent_id }] of reduced.effects.entries()) {
          expect(intent_id).toBe(intentAt(at + 1, index));
          expect(accepted[at + 1 + index]).toMatchObject({ type: "effect.requested", intent_id });
        }
      }
      expect(again).toEqual(state);
    }),
    { numRuns: 200 },
  );
  const [here, there] = [foldAll(walk()), foldAll(walk(), "thr_2")];
  const ids = ({ state: { active } }: Folded) =>
    active?.intents.flatMap(({ kind, intent_id }) => (kind === "tool.call" ? [intent_id] : []));
  expect(ids(here)).toEqual([intentAt(5, 0), intentAt(5, 1)]);
  expect(ids(there)).toEqual([]);
});

/** A run up to two tool calls. */
function walk(): RunEvent[] {
  return [
    run("run_w"),
    compiled("run_w", 1),
    came("run_w", intentAt(2), "so"),
    receipt("run_w", intentAt(2), { calls: [call("c1"), call("c2")] }),
  ];
}

test("[RUN112] an effect that was decided on is journaled before anything else happens to the run", () => {
  fc.assert(
    fc.property(anyEvent, (event) => {
      const before = foldAll([run("run_a")]).state;
      const decided = reduce(before, compiled("run_a", 1), { thread_id, seq: 2 });
      if ("rejected" in decided) throw new Error(decided.rejected);
      const [effect] = decided.effects;
      expect(effect).toMatchObject({ kind: "llm.generate", intent_id: intentAt(2) });
      const next = reduce(decided.state, event, { thread_id, seq: 3 });
      // Others may be asked for meanwhile, and it may be ended.
      if (event.type !== "run.steered" && event.type.startsWith("run.")) return;
      const isIt = event.type === "effect.requested" && event.params_hash === effect?.params_hash;
      expect("rejected" in next).toBe(!isIt);
    }),
  );
});

test("[RUN113] what does not fit is rejected: a step out of turn, an answer to nothing, an end too early", () => {
  const open = foldAll([run("run_a"), compiled("run_a", 1)]);
  const asked = open.state;
  const place = { thread_id, seq: open.seq + 1 };
  const misfits: RunEvent[] = [
    run("run_a"),
    compiled("run_a", 2),
    receipt("run_a", "int_nobody"),
    receipt("run_b", intentAt(2)),
    came("run_a", intentAt(9), "x"),
    end("run_a", "completed"),
    end("run_b", "cancelled"),
    steered("run_b", "x"),
    handed("run_a", "int_nobody"),
    posted("run_a", intentAt(2)),
    wanted("run_a", { intent_id: intentAt(2), kind: "llm.generate", params_hash: "h" }),
    { type: "run.paused", at: 1, run_id: "run_a" } as unknown as RunEvent,
  ];
  for (const event of misfits) {
    expect(reduce(asked, event, place), event.type).toEqual({ rejected: expect.any(String) });
  }
  const ending = foldAll([run("run_a"), compiled("run_a", 1), receipt("run_a", intentAt(2))]).state;
  expect(ending.active?.phase).toBe("ending");
  for (const event of [steered("run_a", "late"), receipt("run_a", intentAt(2)), compiled("run_a", 2)]) {
    expect(reduce(ending, event, place), event.type).toEqual({ rejected: expect.any(String) });
  }
});

test("[RUN114] runs begin in the order they were asked for, whatever becomes of those before", () => {
  const ends = fc.constantFrom("failed" as const, "cancelled" as const, "interrupted" as const);
  fc.assert(
    fc.property(
      fc.shuffledSubarray(runIds, { minLength: 2 }),
      fc.array(ends, { minLength: 4 }),
      (order, how) => {
        let { state } = foldAll(order.map((id, at) => run(id, at + 1)));
        const begun: (string | undefined)[] = [];
        for (const [at, id] of order.entries()) {
          begun.push(state.active?.run_id);
          const reduced = reduce(state, end(id, how[at] ?? "failed"), { thread_id, seq: 10 + at });
          if ("rejected" in reduced) throw new Error(reduced.rejected);
          state = reduced.state;
        }
        expect(begun).toEqual(order);
        // At rest nothing of what has ended stays.
        expect(state).toEqual(IDLE);
      },
    ),
  );
});

test("[RUN115] asked again while it waits, a run takes its own place; cancelled, it leaves no gap", () => {
  const edited = { ...run("run_b", 2), content: "better", input: "sha256:better" } as RunEvent;
  const { state } = foldAll([run("run_a"), run("run_b", 2), run("run_c", 3), edited]);
  expect(state.queue.map(({ run_id, input }) => [run_id, input])).toEqual([
    ["run_b", "sha256:better"],
    ["run_c", "sha256:run_c"],
  ]);
  const removed = reduce(state, end("run_b", "cancelled"), { thread_id, seq: 5 });
  expect(removed).toMatchObject({
    effects: [],
    state: { active: { run_id: "run_a" }, queue: [{ run_id: "run_c" }] },
  });
  expect(reduce(state, end("run_b", "completed"), { thread_id, seq: 5 })).toHaveProperty("rejected");
});

test("[RUN116] steering leads to another step and to a new message; usage is summed; what came leaves no text", () => {
  const usage = { input: 10, output: 2, cached_input: 4 };
  const events = [
    run("run_a"),
    compiled("run_a", 1),
    came("run_a", intentAt(2), "so "),
    came("run_a", intentAt(2), "far"),
    steered("run_a", "s1"),
    steered("run_a", "s2"),
    receipt("run_a", intentAt(2), { usage, result: "sha256:r" }),
  ];
  const active = foldAll(events).state.active as ActiveRun;
  expect(active).toMatchObject({
    phase: "prompt",
    steered: [{ user_message_id: "u-s1" }, { user_message_id: "u-s2" }],
  });
  const progressed = foldAll(events.slice(0, 4)).state.active as ActiveRun;
  expect(progressed.progress).toEqual({ chars: 6, digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const next = foldAll([...events, compiled("run_a", 2)]).state.active as ActiveRun;
  expect(next).toMatchObject({ phase: "model", step: 2, steered: [], agent_message_id: "a-s2", usage });
  const [intent] = next.intents;
  const last = foldAll([
    ...events,
    compiled("run_a", 2),
    receipt("run_a", intent?.intent_id ?? "", { usage }),
  ]);
  expect(last.state.active).toMatchObject({
    phase: "ending",
    usage: { input: 20, output: 4, cached_input: 8 },
  });
});

test("[EXT50] a message that is handed over to an agent elsewhere waits once it is taken; what is said meanwhile leads to another step; an answer ends it at any time", () => {
  const begun = [run("run_a"), compiled("run_a", 1)];
  const intent = intentAt(2);
  const onItsWay = [...begun, handed("run_a", intent)];
  const taken = [...onItsWay, posted("run_a", intent)];
  const activeAfter = (events: readonly RunEvent[]) => foldAll(events).state.active as ActiveRun;
  // What a program is handed over leaves no trace in the state: it is as it was before.
  const program = activeAfter([...begun, handed("run_a", intent, false)]);
  expect(program).toEqual(activeAfter(begun));
  expect(program.intents[0]).not.toHaveProperty("elsewhere");
  expect([begun, onItsWay, taken].map((events) => isWaiting(activeAfter(events)))).toEqual([
    false,
    false,
    true,
  ]);
  const ends = [onItsWay, taken].map((events) => activeAfter([...events, receipt("run_a", intent)]));
  for (const active of ends) expect([active.phase, awaitsAnswer(active)]).toEqual(["ending", false]);
  const said = steered("run_a", "more");
  const further = [
    [...taken, said],
    [...onItsWay, said, posted("run_a", intent)],
  ];
  for (const events of further) {
    const active = activeAfter(events);
    expect([active.phase, isWaiting(active), active.steered.length]).toEqual(["prompt", false, 1]);
    expect(active.intents.filter(({ status }) => status === "open")).toEqual([]);
    const next = activeAfter([...events, compiled("run_a", 2)]);
    expect([next.phase, next.step, next.steered.length]).toEqual(["model", 2, 0]);
  }
  const early = activeAfter([...onItsWay, said]);
  expect([early.phase, early.steered.length]).toEqual(["model", 1]);
});
