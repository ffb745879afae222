import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { sha256 } from "../../src/base/index.js";
import {
  firstBreak,
  type JournalEvent,
  parseEvent,
  readEvents,
  type WrittenEvent,
} from "../../src/journal/index.js";
import { foldPacks } from "../../src/prompts/packs/fold.js";
import { recordEvent } from "../../src/prompts/packs/record.js";
import { runEnded } from "../../src/prompts/packs/run-ended.js";
import { recordHash } from "../../src/prompts/packs/state.js";
import { promptPacks } from "../../src/store/index.js";
import { freshRepository, ownGit } from "../atsf/repository.js";
import { onEachStore } from "../support/stores.js";
import { Bench, message, onEachBench, type Room } from "./support.js";

const PACK = "prompts/packs/default.json";

async function journalOf(room: Room): Promise<WrittenEvent[]> {
  return room.bench.store.read(() => readEvents({ workspace_id: room.id, thread_id: "" }, 1, 10_000));
}

async function table(room: Room): Promise<Map<string, string>> {
  const rows = await room.bench.store.read(() => promptPacks.listPacks(room.id));
  return new Map(rows.map(({ pack, state }) => [pack, state]));
}

/** Everything that can happen to packs, in an order of its own. */
async function story(room: Room): Promise<void> {
  const { clock, deps } = room.bench;
  const thread = await room.thread({ default_prompt_pack: "default" });
  const steps: (() => Promise<unknown> | unknown)[] = [
    () => room.sync(),
    () => room.write({ [PACK]: message("one"), "prompts/packs/other.json": message("other") }),
    () => room.sync(),
    () => room.sync({ pack: "other", thread_id: thread.id }),
    () => room.sync(),
    () => room.apply({ mode: "next_run" }),
    () => room.write({ [PACK]: message("two"), "agent.workspace.json": { schema_version: 1 } }),
    () => room.sync({ version: "HEAD" }),
    () => room.sync(),
    () => room.configure(thread.id, { default_prompt_pack: "default" }),
    async () => {
      const run = await room.beginRun(thread.id);
      await room.apply({ mode: "when_idle" });
      room.write({ [PACK]: message("three") });
      await room.sync();
      await room.setRun(run, "completed");
      await runEnded(deps, { workspace_id: room.id, thread_id: thread.id });
    },
    () => rmSync(join(room.root, PACK)),
    () => room.sync(),
    () => room.apply({ pack: "other" }),
    () => room.sync({ pack: "other" }),
    () => room.apply({ pack: "never" }),
    () => room.sync({ pack: "constructor" }),
  ];
  for (const step of steps) {
    clock.advance(1_234);
    await step();
  }
}

onEachBench("the journal of packs", (bench) => {
  beforeEach(() => void ownGit());
  afterEach(() => vi.unstubAllEnvs());

  test("[PRM40] what happened stands there in order, with the hash of each pack's state", async () => {
    const room = await bench().workspace();
    room.write({ [PACK]: message("x") });
    await room.sync({ thread_id: (await room.thread()).id });
    await room.sync();
    await room.apply();
    rmSync(join(room.root, PACK));
    await room.sync();
    const written = await journalOf(room);
    expect(firstBreak(written, { seq: 0, hash: "" })).toBeUndefined();
    const events = written.map(parseEvent);
    expect(events.map(({ type }) => type)).toEqual([
      "prompt.sync_requested",
      "prompt.synced",
      "prompt.sync_requested",
      "prompt.unchanged",
      "prompt.apply_requested",
      "prompt.applied",
      "prompt.sync_requested",
      "prompt.sync_failed",
    ]);
    expect(events[0]).toMatchObject({ pack: "default", thread_id: expect.any(String), seq: 1, prev: "" });
    expect(events.at(-1)?.state).toBe(sha256((await table(room)).get("default") as string));
    expect(events.at(-1)).toMatchObject({ stage: "read", reason: expect.any(String) });
  });

  test("[PRM42] folded at every cut point it gives the recorded hash, and at its end the table", async () => {
    const room = await bench().workspace(freshRepository({ "a.txt": "a" }).dir);
    await story(room);
    const written = await journalOf(room);
    const events = written.map(parseEvent);
    expect(events.length).toBeGreaterThan(20);
    expect(firstBreak(written, { seq: 0, hash: "" })).toBeUndefined();
    for (let cut = 1; cut <= events.length; cut++) {
      const { state, problem } = foldPacks(room.id, events.slice(0, cut));
      expect(problem).toBeUndefined();
      const last = events[cut - 1] as JournalEvent;
      expect(recordHash(state.get(last.pack as string) as never)).toBe(last.state);
    }
    const { state, effects } = foldPacks(room.id, events);
    const folded = new Map([...state].sort(([a], [b]) => (a < b ? -1 : 1)));
    const kept = [...(await table(room))].map(([pack, text]) => [pack, JSON.parse(text)]);
    expect([...folded]).toEqual(kept);
    const asked = events.filter(({ type }) => type === "prompt.sync_requested");
    expect(effects.map(({ pack, version }) => [pack, version])).toEqual(
      asked.map(({ pack, version }) => [pack, version]),
    );
    const answers = events.flatMap(({ intent_id }) => (intent_id === undefined ? [] : [intent_id]));
    expect(effects.map(({ intent_id }) => intent_id)).toEqual(answers);
  });

  test("[PRM42] a journal that was changed is found out", async () => {
    const room = await bench().workspace(freshRepository({ "a.txt": "a" }).dir);
    await story(room);
    const events = (await journalOf(room)).map(parseEvent);
    const synced = events.findIndex(({ type }) => type === "prompt.synced");
    const changed = events.map((event, n) =>
      n === synced ? { ...event, snapshot: { ...(event.snapshot as object), taken_at: 1 } } : event,
    );
    expect(foldPacks(room.id, changed).problem).toEqual({
      seq: synced + 1,
      message: "the state after it is not the one that was recorded",
    });
    expect(foldPacks(room.id, events.toSpliced(0, 1)).problem?.seq).toBe(2);
    expect(foldPacks("ws_other", events).problem?.seq).toBe(1);
  });

  test("[PRM43] a sync that a crash left open is superseded by the next", async () => {
    const room = await bench().workspace();
    room.write({ [PACK]: message("x") });
    const open = await bench().store.write({ key: room.id }, () =>
      recordEvent(bench().deps, room.id, { type: "prompt.sync_requested", at: 1, pack: "default" }),
    );
    expect(await room.status()).toEqual([{ pack: "default" }]);
    expect(room.told()).toEqual([]);
    expect((await room.sync()).status).toBe("pending");
    const events = (await journalOf(room)).map(parseEvent);
    expect(events.map(({ type }) => type)).toEqual([
      "prompt.sync_requested",
      "prompt.sync_requested",
      "prompt.synced",
    ]);
    const { effects } = foldPacks(room.id, events);
    expect(effects[0]).toEqual(open.effects[0]);
    expect(events[2]?.intent_id).toBe(effects[1]?.intent_id);
    expect(effects[0]?.intent_id).toMatch(/^int_[0-9a-f]{24}$/);
    expect(effects[0]?.intent_id).not.toBe(effects[1]?.intent_id);
  });

  test("[PRM41] what does not fit is never journaled", async () => {
    const room = await bench().workspace();
    const record = () =>
      bench().store.write({ key: room.id }, () =>
        recordEvent(bench().deps, room.id, {
          type: "prompt.applied",
          at: 1,
          pack: "default",
          root_hash: `sha256:${"0".repeat(64)}`,
        }),
      );
    await expect(record()).rejects.toThrow(
      "prompt.applied of the prompt pack default: no apply was asked for",
    );
    expect(await journalOf(room)).toEqual([]);
    expect(await table(room)).toEqual(new Map());
  });
});

describe("replaying", () => {
  const journals: WrittenEvent[][] = [];

  onEachStore("the same calls on the same files", (kind) => {
    beforeEach(() => {
      ownGit();
      for (const name of ["GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"]) vi.stubEnv(name, "2026-01-01T00:00:00Z");
    });
    afterEach(() => vi.unstubAllEnvs());

    test.each([1, 2])("[PRM42] give the same journal, byte for byte (%i)", async () => {
      const bench = await Bench.open(kind);
      let made = 0;
      bench.deps = { ...bench.deps, makeId: (prefix) => `${prefix}${++made}` };
      const room = await bench.workspace(freshRepository({ "a.txt": "a" }).dir);
      await story(room);
      journals.push(await journalOf(room));
      await bench.end();
      expect(journals.at(-1)).toEqual(journals[0]);
      expect(journals[0]?.length).toBeGreaterThan(20);
    });
  });
});
