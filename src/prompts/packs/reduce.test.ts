import fc from "fast-check";
import { expect, test } from "vitest";
import { type PacksState, reducePacks } from "./reduce.js";
import type { PackRecord } from "./state.js";

const ref = (n: number) => `sha256:${String(n).padStart(64, "0")}`;

const snapshot = (n: number, pack = "p") => ({
  workspace: "ws",
  root_hash: ref(n),
  prompt_pack: pack,
  prompt_pack_ref: ref(n + 100),
  taken_at: n,
});

const at = 5_999;
const run = { run_id: "r", workspace_id: "ws", thread_id: "t" };
const stateOf = (record: Omit<PackRecord, "pack">): PacksState => new Map([["p", { pack: "p", ...record }]]);
const reduce = (record: Omit<PackRecord, "pack">, event: object) =>
  reducePacks(stateOf(record), { at, pack: "p", ...event }, { workspace_id: "ws", seq: 7 });

/** The record after an event, or why it was rejected. */
function after(record: Omit<PackRecord, "pack">, event: object): unknown {
  const reduced = reduce(record, event);
  if ("rejected" in reduced) return reduced.rejected;
  const { pack: _, ...rest } = reduced.state.get("p") as PackRecord;
  return rest;
}

const open = { syncing: "int_1" };
const answer = { intent_id: "int_1" };
const active = snapshot(1);
const pending = snapshot(2);
const error = { stage: "read" as const, reason: "gone", at: 1 };
const waits = { mode: "when_idle" as const, waits_for: [run] };

test("[PRM40] [PRM43] asking leads to an effect whose id is made of where the event stands", () => {
  const asked = { type: "prompt.sync_requested", version: "main", thread_id: "t" };
  const reduced = reduce({ active, error, syncing: "int_old" }, asked);
  if ("rejected" in reduced) return expect.unreachable(reduced.rejected);
  const [effect] = reduced.effects;
  expect(reduced.effects).toEqual([
    { intent_id: effect?.intent_id, kind: "workspace.resolve_prompt", pack: "p", version: "main" },
  ]);
  expect(after({ active, error }, asked)).toEqual({ active, error, syncing: effect?.intent_id });
  const ids = [
    { workspace_id: "ws", seq: 7 },
    { workspace_id: "ws", seq: 8 },
    { workspace_id: "other", seq: 7 },
  ].map((place) => reducePacks(new Map(), { at, pack: "p", ...asked }, place));
  const found = ids.map((each) => ("effects" in each ? each.effects[0]?.intent_id : undefined));
  expect(found[0]).toBe(effect?.intent_id);
  expect(new Set(found).size).toBe(3);
});

test("[PRM31] [PRM32] [PRM36] answers", () => {
  const failed = { type: "prompt.sync_failed", ...answer, stage: "read", reason: "gone" };
  const told = { stage: "read", reason: "gone", at: 5 };
  expect(after({ ...open, active, pending, apply: waits }, failed)).toEqual({
    active,
    pending,
    apply: waits,
    error: told,
  });
  const synced = { type: "prompt.synced", ...answer, snapshot: snapshot(3) };
  expect(after({ ...open, error }, synced)).toEqual({ pending: snapshot(3) });
  expect(after({ ...open, active, pending, apply: waits, error }, synced)).toEqual({
    active,
    pending: snapshot(3),
    apply: waits,
  });
  const same = (n: number) => ({ type: "prompt.unchanged", ...answer, root_hash: ref(n) });
  expect(after({ ...open, active, pending, apply: waits, error }, same(2))).toEqual({
    active,
    pending,
    apply: waits,
  });
  expect(after({ ...open, active, pending, apply: waits, error }, same(1))).toEqual({ active });
});

test("[PRM30] [PRM35] applying", () => {
  const asked = { type: "prompt.apply_requested", mode: "next_run", waits_for: [] };
  const now = { mode: "next_run", waits_for: [] };
  expect(after({ active, pending, apply: waits, error }, asked)).toEqual({
    active,
    pending,
    apply: now,
    error,
  });
  expect(after({ pending }, { type: "prompt.apply_requested", ...waits })).toEqual({ pending, apply: waits });
  const applied = { type: "prompt.applied", root_hash: ref(2) };
  expect(after({ active, pending, apply: waits, error, ...open }, applied)).toEqual({
    active: pending,
    error,
    ...open,
  });
});

test.each([
  ["an answer to nothing", {}, { type: "prompt.synced", ...answer, snapshot: pending }, /int_1 is not open/],
  [
    "a late answer",
    { syncing: "int_2" },
    { type: "prompt.unchanged", ...answer, root_hash: ref(1) },
    /not open/,
  ],
  ["a late failure", {}, { type: "prompt.sync_failed", ...answer, stage: "read", reason: "x" }, /not open/],
  ["another pack", open, { type: "prompt.synced", ...answer, snapshot: snapshot(3, "q") }, /of another pack/],
  [
    "what is known",
    { ...open, active },
    { type: "prompt.synced", ...answer, snapshot: active },
    /not another/,
  ],
  [
    "what is not known",
    { ...open, active },
    { type: "prompt.unchanged", ...answer, root_hash: ref(2) },
    /another/,
  ],
  [
    "an apply of nothing",
    { active },
    { type: "prompt.apply_requested", mode: "next_run", waits_for: [] },
    /nothing/,
  ],
  [
    "a next run that waits",
    { pending },
    { type: "prompt.apply_requested", ...waits, mode: "next_run" },
    /waits/,
  ],
  [
    "an apply nobody asked for",
    { pending },
    { type: "prompt.applied", root_hash: ref(2) },
    /no apply was asked/,
  ],
  [
    "what is not pending",
    { pending, apply: waits },
    { type: "prompt.applied", root_hash: ref(1) },
    /not the pending/,
  ],
  ["no event", {}, { type: "run.requested" }, /no event of a prompt pack/],
  ["half an event", open, { type: "prompt.synced", ...answer }, /no event/],
  [
    "a stage nobody knows",
    open,
    { type: "prompt.sync_failed", ...answer, stage: "luck", reason: "x" },
    /no event/,
  ],
])("[PRM41] %s is rejected and changes nothing", (_, record, event, reason) => {
  const before = JSON.stringify([...stateOf(record)]);
  expect(after(record, event)).toMatch(reason);
  expect(JSON.stringify([...stateOf(record)])).toBe(before);
});

const events = fc.oneof(
  fc.constant({ type: "prompt.sync_requested" }),
  fc.record({
    type: fc.constant("prompt.synced"),
    snapshot: fc.integer({ min: 1, max: 3 }).map((n) => snapshot(n)),
  }),
  fc.record({ type: fc.constant("prompt.unchanged"), root_hash: fc.integer({ min: 1, max: 3 }).map(ref) }),
  fc.constant({ type: "prompt.sync_failed", stage: "read", reason: "gone" }),
  fc
    .constantFrom({ mode: "next_run", waits_for: [] }, waits)
    .map((the) => ({ type: "prompt.apply_requested", ...the })),
  fc.record({ type: fc.constant("prompt.applied"), root_hash: fc.integer({ min: 1, max: 3 }).map(ref) }),
);

/** One event on a state: the same again gives the same, and other packs stay what they are. */
function step(state: PacksState, event: { pack: string; at: number; [fact: string]: unknown }): PacksState {
  const place = { workspace_id: "ws", seq: event.at + 1 };
  const reduced = reducePacks(state, event, place);
  expect(reducePacks(state, structuredClone(event), place)).toEqual(reduced);
  if ("rejected" in reduced) return state;
  for (const [name, record] of state) if (name !== event.pack) expect(reduced.state.get(name)).toBe(record);
  return reduced.state;
}

/** An apply without anything to apply would wait for ever; the same snapshot twice would be no news. */
function isSound({ active, pending, apply }: PackRecord): boolean {
  if (!pending) return apply === undefined;
  return pending.root_hash !== active?.root_hash;
}

test("[PRM41] [PRM43] whatever comes in whatever order, it is a function that keeps its promises", () => {
  const packs = fc.constantFrom("p", "constructor");
  fc.assert(
    fc.property(fc.array(fc.tuple(packs, events), { maxLength: 40 }), (given) => {
      let state: PacksState = new Map();
      for (const [at, [pack, event]] of given.entries()) {
        const intent_id = state.get(pack)?.syncing ?? "int_none";
        const its = "snapshot" in event ? { snapshot: { ...event.snapshot, prompt_pack: pack } } : {};
        state = step(state, { at, pack, intent_id, ...event, ...its });
        for (const record of state.values()) expect(isSound(record)).toBe(true);
      }
    }),
    { seed: 4, numRuns: 500 },
  );
});
