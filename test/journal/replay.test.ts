import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { z } from "zod";
import { sha256 } from "../../src/base/index.js";
import { COMPILER_VERSION, compilePrefix, compileStep } from "../../src/prompts/index.js";
import { reduce, stateHash } from "../../src/runs/fold/reduce.js";
import { type ReplayDeps, replayRun } from "../../src/runs/replay.js";
import { openStore, type Store } from "../../src/store/index.js";
import { defineTool } from "../../src/tools/index.js";
import { RawJournal } from "../support/journal.js";
import { calls, type RunScene, runStage, says, verifyAll } from "../support/runs.js";

/** A tool that nobody may call any more once the runs are over. */
let over = false;
const once = defineTool({
  name: "test_once",
  description: "Works until it is over.",
  parameters: z.strictObject({}),
  capabilities: ["tests.once"],
  safeToRepeat: true,
  run() {
    if (over) throw new Error("replay has called a tool");
    return { status: "completed", output: "It worked." };
  },
});
const stage = runStage(undefined, { options: { tools: [once] } });
let scene: RunScene;
let thread_id: string;
let run_id: string;
let journal: RawJournal;
let store: Store;

beforeAll(async () => {
  scene = await stage.scene();
  const waiting = join(scene.root, "waiting");
  scene.write("waiting", "");
  scene.plays(
    { steps: [{ text: "Let me look." }, ...calls("test_once").steps, { usage: { input: 10, output: 5 } }] },
    { steps: [{ text: "It " }, { while_there: waiting }, { text: "is late." }] },
    says("I do."),
    says("Good night."),
    { steps: [{ status: 400, body: "no" }] },
  );
  await scene.saveDoc("Be brief.");
  thread_id = (await scene.start()).id;
  const { run } = await scene.startRun(thread_id, "What time is it?");
  const next = await scene.startRun(thread_id, "Good night.");
  const types = async () => (await scene.journal(run.id)).map(({ type }) => type);
  await vi.waitFor(async () => expect(await types()).toContain("effect.progress"), 20_000);
  await scene.wire.result("run/steer", { run_id: run.id, content: "mind this" });
  await scene.wire.result("run/update", { run_id: next.run.id, content: "Sleep well." });
  const cancelled = await scene.startRun(thread_id, "Never mind.");
  await scene.wire.result("run/cancel", { run_id: cancelled.run.id });
  rmSync(waiting);
  await scene.ended(next.run.id);
  await scene.ask(thread_id, "Fail.");
  run_id = run.id;
  journal = new RawJournal(stage, { workspace_id: scene.workspace_id, thread_id });
  store = await openStore(join(stage.gateway().place.dataDir, "heddle.db"));
  over = true;
});
afterAll(() => store?.close());

const replay = (more: Partial<ReplayDeps> = {}, id = run_id) =>
  replayRun({ store, ...more }, { run_id: id, workspace_id: undefined });

test("[JRN20] runs that were steered, edited, cancelled and failed are verified too", async () => {
  await verifyAll(scene);
  const statuses = (await scene.runs()).map(({ status }) => status).sort();
  expect(statuses).toEqual(["cancelled", "completed", "completed", "failed"]);
});

test("[JRN28] folded at every cut point, the journal gives the recorded state; at its end, what lists show", async () => {
  const folded = await journal.folded();
  expect(folded.map(({ state }) => stateHash(state))).toEqual(folded.map(({ recorded }) => recorded));
  const rows = folded.at(-1)?.rows.toSorted((a, b) => a.number - b.number);
  expect(rows).toEqual(await journal.runs());
  expect(folded.at(-1)?.state).toEqual({ queue: [] });
});

test("[JRN28] while runs go on, the lists show at every moment what the journal says up to then", async () => {
  const live = await stage.scene();
  live.plays(calls("system_time"), { steps: [{ text: "a" }, { delay_ms: 260 }, { text: "b" }] }, says("two"));
  const thread = await live.start();
  const key = { workspace_id: live.workspace_id, thread_id: thread.id };
  const raw = new RawJournal(stage, key);
  const where = raw.where("1 = 1");
  const seen = new Map<number, string>();
  let going = true;
  const watching = (async () => {
    while (going) {
      const [row] = await raw.sql(
        `select (select max(seq) from journal_event where ${where}) as head,
         (select json_group_array(json_object('id', id, 'status', status, 'steps', steps, 'last_seq', last_seq))
          from (select * from run where ${where} order by number)) as runs`,
      );
      if (row?.head) seen.set(Number(row.head), String(row.runs));
      await new Promise((next) => setImmediate(next));
    }
  })();
  const { run } = await live.startRun(thread.id, "one");
  const next = await live.startRun(thread.id, "two");
  await live.ended(run.id);
  await live.ended(next.run.id);
  going = false;
  await watching;
  const folded = await raw.folded();
  for (const [head, runs] of seen) {
    const rows = folded[head - 1]?.rows.toSorted((a, b) => a.number - b.number) ?? [];
    const shown = rows.map(({ id, status, steps, last_seq }) => ({ id, status, steps, last_seq }));
    expect(JSON.parse(runs), `at event ${head}`).toEqual(shown);
  }
  expect(seen.size).toBeGreaterThan(4);
});

test("[JRN25] a reducer that comes to another state fails the fold, and the first event is named with a diff", async () => {
  const forgets: typeof reduce = (state, event, place) => {
    const reduced = reduce(state, event, place);
    if (event.type !== "run.steered" || !("state" in reduced) || !reduced.state.active) return reduced;
    return { ...reduced, state: { ...reduced.state, active: { ...reduced.state.active, steered: [] } } };
  };
  const replayed = await replay({ reduce: forgets });
  expect(replayed).toMatchObject({ verified: false, integrity: "ok", fold: "failed", compile: "ok" });
  const steered = (await scene.journal(run_id)).find(({ type }) => type === "run.steered");
  expect(replayed.first_difference).toMatchObject({
    check: "fold",
    where: `event ${steered?.seq}`,
    message: expect.stringContaining("run.steered"),
  });
  expect(replayed.first_difference?.diff).toContain(`-  "hash": "${steered?.state}"`);
  expect(replayed.first_difference?.diff).toMatch(/^\+ {4}"active"/m);
});

test("[JRN25] a reducer that decides on other effects, rejects or throws fails the fold", async () => {
  const elsewhere: typeof reduce = (state, event, place) =>
    reduce(state, event, { ...place, seq: place.seq + 1 });
  const compiled = (await scene.journal(run_id)).find(({ type }) => type === "prompt.compiled");
  expect(await replay({ reduce: elsewhere })).toMatchObject({
    fold: "failed",
    first_difference: { check: "fold", where: `event ${compiled?.seq}` },
  });
  const rejects: typeof reduce = (state, event, place) =>
    event.type === "effect.receipt" ? { rejected: "no receipts today" } : reduce(state, event, place);
  expect((await replay({ reduce: rejects })).first_difference?.message).toContain("no receipts today");
  const throws = () => {
    throw new Error("broken reducer");
  };
  expect(await replay({ reduce: throws })).toMatchObject({
    verified: false,
    fold: "failed",
    first_difference: { where: "event 1", message: expect.stringContaining("broken reducer") },
  });
});

const compiler = { prefix: compilePrefix, step: compileStep, version: COMPILER_VERSION };

test("[JRN26] a compiler that gives another prefix fails the compile, with a diff of the two", async () => {
  const prefix: typeof compilePrefix = (config, inputs) => {
    const compiled = compilePrefix(config, inputs);
    return { ...compiled, reserved: compiled.reserved + 1 };
  };
  const replayed = await replay({ compile: { ...compiler, prefix } });
  expect(replayed).toMatchObject({
    verified: false,
    integrity: "ok",
    fold: "ok",
    compile: "failed",
    first_difference: {
      check: "compile",
      where: "step 1",
      message: expect.stringContaining("another prefix"),
    },
  });
  expect(replayed.first_difference?.diff).toMatch(/^-.*"reserved": 4096,?\n\+.*"reserved": 4097/m);
});

test("[JRN26] a compiler that sends something else fails the compile at the first step where it does", async () => {
  let steps = 0;
  const step: typeof compileStep = (prefix, history) => {
    const compiled = compileStep(prefix, history);
    steps += 1;
    return steps < 2 ? compiled : { ...compiled, request_hash: "f".repeat(64) };
  };
  const replayed = await replay({ compile: { ...compiler, step } });
  expect(replayed.first_difference).toMatchObject({ check: "compile", where: "step 2" });
  expect(replayed.first_difference?.diff).toContain(`+  "request_hash": "${"f".repeat(64)}"`);
  const throws = () => {
    throw new Error("does not fit");
  };
  expect(await replay({ compile: { ...compiler, step: throws } })).toMatchObject({
    verified: false,
    compile: "failed",
    first_difference: { where: "step 1", message: expect.stringContaining("does not fit") },
  });
});

test("[JRN27] a compiler of another version proves nothing and says so, with both versions", async () => {
  expect(await replay({ compile: { ...compiler, version: "2" } })).toMatchObject({
    verified: false,
    integrity: "ok",
    fold: "ok",
    compile: "other_version",
    first_difference: {
      check: "compile",
      where: "step 1",
      message: `step 1 was compiled by version ${COMPILER_VERSION} of the compiler; this is version 2.`,
    },
  });
});

test("[JRN21] whichever byte of a run's journal is changed, replay answers, and names the event", async () => {
  const events = await journal.events();
  const row = (await journal.runs()).find(({ id }) => id === run_id);
  for (const { seq, body } of events.slice(0, row?.last_seq ?? 0)) {
    for (const at of [0, 1, 2].map((part) => Math.floor((body.length * part) / 3) + (seq % 7))) {
      for (const other of ["0", "x", '"']) {
        const changed = `${body.slice(0, at)}${other}${body.slice(at + 1)}`;
        if (changed === body) continue;
        await journal.change(seq, { body: changed });
        const { verified, integrity, first_difference } = await replay();
        expect({ verified, integrity, where: first_difference?.where }).toEqual({
          verified: false,
          integrity: "failed",
          where: `event ${seq}`,
        });
      }
    }
    await journal.change(seq, { body });
  }
  expect(await replay()).toMatchObject({ verified: true });
});

test("[JRN21] whatever takes the place of an event, replay answers", async () => {
  const [, second] = await journal.events();
  for (const body of [
    "",
    "null",
    "5",
    "[]",
    "{}",
    '{"seq":2}',
    `{"seq":2,"run_id":"${run_id}","type":"prompt.compiled"}`,
  ]) {
    await journal.change(2, { body, hash: sha256(body) });
    expect(await replay(), body).toMatchObject({ verified: false, integrity: "failed", fold: "failed" });
  }
  await journal.change(2, { body: second?.body ?? "", hash: second?.hash ?? "" });
});

test("[JRN29] replay asks no model, calls no tool and writes nothing", async () => {
  const tables = ["journal_event", "run", "history", "blob", "blob_use", "notification", "thread"];
  const look = async () => ({
    rows: await Promise.all(tables.map(async (table) => sha256(JSON.stringify(await rowsOf(table))))),
    log: scene.text(thread_id, "messages.jsonl"),
    connections: scene.model.connections(),
  });
  const before = await look();
  scene.model.forget();
  // The tool throws by now, and a request would be one that the model has no answer to.
  expect(over).toBe(true);
  for (const { id } of await scene.runs())
    expect(await scene.wire.result("run/replay", { run_id: id })).toMatchObject({ verified: true });
  expect(scene.model.requests).toEqual([]);
  expect(await look()).toEqual(before);
  // It is given a store, and that is all.
  const frozen: ReplayDeps = Object.freeze({ store });
  expect(await replayRun(frozen, { run_id, workspace_id: undefined })).toMatchObject({ verified: true });
});

/** Without what the gateway does by itself meanwhile: it makes messages searchable. */
async function rowsOf(table: string): Promise<unknown[]> {
  return (await journal.sql(`select * from ${table}`)).map(({ words_to, ...row }) => row);
}
