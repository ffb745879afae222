import { expect, test } from "vitest";
import { parseEvent, readEvents } from "../../src/journal/index.js";
import { applyWaiting, runEnded } from "../../src/prompts/packs/run-ended.js";
import { PackTurns } from "../../src/prompts/packs/turns.js";
import { methods, type PromptSnapshot } from "../../src/protocol/index.js";
import type { Store } from "../../src/store/index.js";
import { deleteWorkspace } from "../../src/tree/index.js";
import { fits, message, onEachBench, type Room } from "./support.js";

const PACK = "prompts/packs/default.json";
const WHEN_IDLE = { mode: "when_idle" };

/** A pack with something pending, in a gateway that has looked already for what waits. */
async function pending(room: Room, content = "new"): Promise<PromptSnapshot> {
  await applyWaiting(room.bench.deps);
  room.write({ [PACK]: message(content) });
  return (await room.sync()).pending as PromptSnapshot;
}

const ended = (room: Room, thread_id: string) =>
  runEnded(room.bench.deps, { workspace_id: room.id, thread_id });

async function eventTypes(room: Room): Promise<string[]> {
  const key = { workspace_id: room.id, thread_id: "" };
  const events = await room.bench.store.read(() => readEvents(key, 1, 1_000));
  return events.map((event) => parseEvent(event).type);
}

onEachBench("applying when idle", (bench) => {
  test("[PRM34] with nothing pending nothing is applied, and nothing is written", async () => {
    const room = await bench().workspace();
    for (const mode of ["next_run", "when_idle"])
      expect(await room.apply({ mode })).toEqual({ pack: "default", applied: false });
    await pending(room);
    const { active } = await room.apply();
    const before = await eventTypes(room);
    const told = room.told().length;
    for (const mode of ["next_run", "when_idle"])
      expect(await room.apply({ mode })).toEqual({ pack: "default", applied: false, active });
    expect(await eventTypes(room)).toEqual(before);
    expect(room.told()).toHaveLength(told);
    expect(await room.apply({ pack: "other" })).toEqual({ pack: "other", applied: false });
  });

  test("[PRM35] with no run under way it is applied at once", async () => {
    const room = await bench().workspace();
    const snapshot = await pending(room);
    const thread = await room.thread({ default_prompt_pack: "default" });
    const over = await room.beginRun(thread.id, "completed");
    await room.beginRun(thread.id, "queued");
    expect(over.status).toBe("completed");
    expect(await room.apply(WHEN_IDLE)).toEqual({ pack: "default", applied: true, active: snapshot });
  });

  test.each(["running", "waiting"])("[PRM35] during a run that is %s it waits for its end", async (state) => {
    const room = await bench().workspace();
    const snapshot = await pending(room);
    const thread = await room.thread({ default_prompt_pack: "default" });
    const run = await room.beginRun(thread.id, state);
    const asked = await room.apply(WHEN_IDLE);
    expect(asked).toEqual({ pack: "default", applied: false, waiting: true, pending: snapshot });
    fits("prompt/apply", asked);
    const waiting = [{ pack: "default", pending: snapshot, apply: "when_idle" }];
    expect(await room.status()).toEqual(waiting);
    fits("prompt/status", { data: waiting });
    await ended(room, thread.id);
    expect(await room.status(), "it has not ended").toEqual(waiting);
    await room.setRun(run, state === "running" ? "waiting" : "running");
    await ended(room, thread.id);
    expect(await room.status(), "it goes on").toEqual(waiting);
    await room.setRun(run, "failed");
    await ended(room, "thr_other");
    expect(await room.status(), "another thread").toEqual(waiting);
    await ended(room, thread.id);
    expect(await room.status()).toEqual([{ pack: "default", active: snapshot }]);
    expect(await eventTypes(room)).toEqual([
      "prompt.sync_requested",
      "prompt.synced",
      "prompt.apply_requested",
      "prompt.applied",
    ]);
    expect(room.told().map(({ state: told }) => Object.keys(told).sort().join())).toEqual([
      "pack,pending",
      "apply,pack,pending",
      "active,pack",
    ]);
  });

  test("[PRM35] without a thread it waits for every thread that uses the pack, and no other", async () => {
    const room = await bench().workspace();
    const elsewhere = await bench().workspace();
    const binding = { workspace: room.id };
    const users = [
      [room, await room.thread({ default_prompt_pack: "default" })],
      [elsewhere, await elsewhere.thread({ default_prompt_pack: "default", workspace_binding: binding })],
    ] as const;
    const others = [
      [room, await room.thread()],
      [room, await room.thread({ default_prompt_pack: "house" })],
      [
        room,
        await room.thread({ default_prompt_pack: "default", workspace_binding: { workspace: elsewhere.id } }),
      ],
      [elsewhere, await elsewhere.thread({ default_prompt_pack: "default" })],
    ] as const;
    const snapshot = await pending(room);
    for (const [where, { id }] of others) await where.beginRun(id);
    const runs = [];
    for (const [where, { id }] of users) runs.push(await where.beginRun(id));
    expect((await room.apply(WHEN_IDLE)).waiting).toBe(true);
    for (const [n, [where, { id }]] of users.entries()) {
      expect((await room.status())[0]?.apply).toBe("when_idle");
      await where.setRun(runs[n] as never, "completed");
      await ended(where, id);
    }
    expect(await room.status()).toEqual([{ pack: "default", active: snapshot }]);
  });

  test("[PRM35] with a thread it waits for that thread's run alone, whatever its pack", async () => {
    const room = await bench().workspace();
    const [busy, asked] = [await room.thread({ default_prompt_pack: "default" }), await room.thread()];
    await room.beginRun(busy.id);
    await pending(room);
    expect(await room.apply({ ...WHEN_IDLE, thread_id: asked.id })).toMatchObject({ applied: true });
    const run = await room.beginRun(asked.id);
    await pending(room, "newer");
    expect(await room.apply({ ...WHEN_IDLE, thread_id: asked.id })).toMatchObject({ waiting: true });
    await room.setRun(run, "cancelled");
    await ended(room, asked.id);
    expect((await room.status())[0]).not.toHaveProperty("pending");
  });

  test("[PRM35] a run that begins while it waits does not hold it up", async () => {
    const room = await bench().workspace();
    await pending(room);
    const thread = await room.thread({ default_prompt_pack: "default" });
    const run = await room.beginRun(thread.id);
    await room.apply(WHEN_IDLE);
    await room.setRun(run, "completed");
    await room.beginRun(thread.id);
    await ended(room, thread.id);
    expect((await room.status())[0]).toHaveProperty("active");
  });

  test("[PRM36] a newer sync takes the place of what is pending and is applied then", async () => {
    const room = await bench().workspace();
    await pending(room, "first");
    const thread = await room.thread();
    const run = await room.beginRun(thread.id);
    await room.apply({ ...WHEN_IDLE, thread_id: thread.id });
    const newer = await pending(room, "second");
    expect(await room.status()).toEqual([{ pack: "default", pending: newer, apply: "when_idle" }]);
    room.write({ [PACK]: "{" });
    expect(await room.sync()).toMatchObject({ status: "failed", pending: newer });
    await room.setRun(run, "completed");
    await ended(room, thread.id);
    expect(await room.status()).toEqual([{ pack: "default", active: newer, error: expect.anything() }]);
  });

  test("[PRM36] next_run applies at once what waited", async () => {
    const room = await bench().workspace();
    const snapshot = await pending(room);
    const thread = await room.thread();
    const run = await room.beginRun(thread.id);
    await room.apply({ ...WHEN_IDLE, thread_id: thread.id });
    expect(await room.apply({ mode: "next_run" })).toEqual({
      pack: "default",
      applied: true,
      active: snapshot,
    });
    await room.setRun(run, "completed");
    await ended(room, thread.id);
    expect(await room.status()).toEqual([{ pack: "default", active: snapshot }]);
  });

  test("[PRM37] what waited is applied after a restart, once its runs have ended", async () => {
    const room = await bench().workspace();
    const gone = await bench().workspace();
    const snapshot = await pending(room);
    await pending(gone);
    const thread = await room.thread();
    const other = await gone.thread();
    const run = await room.beginRun(thread.id);
    await gone.beginRun(other.id);
    for (const [where, { id }] of [
      [room, thread],
      [gone, other],
    ] as const)
      await where.apply({ ...WHEN_IDLE, thread_id: id });
    await deleteWorkspace(bench().deps, { workspace_id: gone.id }, {});
    bench().restart();
    await applyWaiting(bench().deps);
    expect((await room.status())[0]?.apply, "its run waits for an approval").toBe("when_idle");
    await room.setRun(run, "interrupted");
    bench().restart();
    await applyWaiting(bench().deps);
    expect(await room.status()).toEqual([{ pack: "default", active: snapshot }]);
    expect(bench().reported).toEqual([]);
  });

  test("[PRM37] after a restart a run that ends finds what waits", async () => {
    const room = await bench().workspace();
    await pending(room);
    const thread = await room.thread();
    const run = await room.beginRun(thread.id);
    await room.apply({ ...WHEN_IDLE, thread_id: thread.id });
    bench().restart();
    await room.setRun(run, "completed");
    await ended(room, thread.id);
    expect((await room.status())[0]).toHaveProperty("active");
  });

  test("[PRM37] where nothing waits, a run that ends asks the store once after the start and never again", async () => {
    const room = await bench().workspace();
    await pending(room);
    await room.apply(WHEN_IDLE);
    bench().restart();
    let asked = 0;
    const forgetting = new Set<() => void>();
    const { store } = bench();
    const counted: Store = {
      ...store,
      onForget: (listener) => {
        forgetting.add(listener);
        return () => forgetting.delete(listener);
      },
      read: (unit) => {
        asked++;
        return store.read(unit);
      },
      write: (options, unit) => {
        asked++;
        return store.write(options, unit);
      },
    };
    const deps = { ...bench().deps, store: counted, packs: new PackTurns(counted) };
    const end = () => runEnded(deps, { workspace_id: room.id, thread_id: "thr" });
    for (let n = 0; n < 5; n++) await end();
    expect(asked).toBe(1);
    // Another gateway may have been at work meanwhile.
    for (const forget of forgetting) forget();
    for (let n = 0; n < 5; n++) await end();
    expect(asked).toBe(2);
    deps.packs.close();
    expect(forgetting.size).toBe(0);
  });

  test("[PRM37] a store that fails is reported, and the next end of a run tries again", async () => {
    const room = await bench().workspace();
    await pending(room);
    const thread = await room.thread();
    const run = await room.beginRun(thread.id);
    await room.apply({ ...WHEN_IDLE, thread_id: thread.id });
    await room.setRun(run, "completed");
    const broken: Store = {
      ...bench().store,
      write: () => Promise.reject(new Error("no store")),
    };
    await runEnded({ ...bench().deps, store: broken }, { workspace_id: room.id, thread_id: thread.id });
    expect(bench().reported).toEqual([new Error("no store")]);
    await ended(room, thread.id);
    expect((await room.status())[0]).toHaveProperty("active");
  });

  test("[PRM35] a run that ends at the very moment of the apply leaves nothing waiting", async () => {
    const room = await bench().workspace();
    const thread = await room.thread({ default_prompt_pack: "default" });
    for (let round = 0; round < 12; round++) {
      const snapshot = await pending(room, `round ${round}`);
      const run = await room.beginRun(thread.id);
      await Promise.all([
        room.apply(WHEN_IDLE),
        room.setRun(run, "completed").then(() => ended(room, thread.id)),
      ]);
      expect(await room.status(), `round ${round}`).toEqual([{ pack: "default", active: snapshot }]);
    }
  });

  test("[PRM35] a run that ends between the commit of the apply and its answer is not missed", async () => {
    const room = await bench().workspace();
    const snapshot = await pending(room);
    const thread = await room.thread({ default_prompt_pack: "default" });
    const run = await room.beginRun(thread.id);
    const { deps, store } = bench();
    let ending: Promise<void> | undefined;
    const late: Store = {
      ...store,
      async write(options, unit) {
        const value = await store.write(options, unit);
        await room.setRun(run, "completed");
        ending = runEnded(deps, { workspace_id: room.id, thread_id: thread.id });
        // It may do what it can while the apply has not heard of its own commit.
        await Promise.race([ending, new Promise((next) => setTimeout(next, 200))]);
        return value;
      },
    };
    bench().deps = { ...deps, store: late };
    expect(await room.apply(WHEN_IDLE)).toMatchObject({ waiting: true });
    bench().deps = deps;
    await ending;
    expect(await room.status()).toEqual([{ pack: "default", active: snapshot }]);
  });

  test("[PRM30] a mode that is not known is refused by the wire", () => {
    const params = { workspace_id: "ws", mode: "at_once" };
    expect(methods["prompt/apply"].params.safeParse(params).success).toBe(false);
  });
});
