import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { saveOften } from "../support/http.js";
import { onEachStore } from "../support/stores.js";
import type { Notification, Wire } from "../support/wire.js";

onEachStore("replay", (kind) => {
  let gateway: TestGateway;
  let wire: Wire;
  let workspace_id: string;
  beforeAll(async () => {
    gateway = await startGateway(kind);
  });
  afterAll(() => gateway?.stop());
  beforeEach(async () => {
    wire = await gateway.wire();
    workspace_id = (await wire.result("workspace/create", { name: "w" })).workspace.id;
  });

  const folders = async (by: Wire, count: number) => {
    for (let i = 0; i < count; i++) await by.result("thread/folder/create", { workspace_id, name: `f${i}` });
  };
  const seqs = (told: Notification[]) => told.map(({ params }) => params.seq);
  const upTo = (last: number, from = 1) => Array.from({ length: last - from + 1 }, (_, i) => from + i);

  test("[WIRE74] subscribe with after_seq replays what was missed to the letter, then goes on live", async () => {
    await wire.result("thread/start", { workspace_id });
    await wire.result("thread/agents_doc/save", { workspace_id, content: 'é😀 \u2028 "x"' });
    await folders(wire, 3);
    const told = await wire.heard(7);
    const late = new Map<number, Wire>();
    for (const after_seq of [0, 3, 6, 7]) {
      const each = await gateway.wire();
      late.set(after_seq, each);
      expect(await each.result("subscribe", { workspace_id, after_seq })).toEqual({ seq: 7, resync: false });
      expect(await each.heard(7 - after_seq)).toEqual(told.slice(after_seq));
    }
    await folders(wire, 1);
    for (const [after_seq, each] of late) {
      await each.heard(8 - after_seq);
      expect(seqs(each.notifications())).toEqual(upTo(8, after_seq + 1));
    }
  });

  test("[WIRE74] the answer to subscribe comes before what it replays", async () => {
    await folders(wire, 5);
    const late = await gateway.wire();
    await late.result("subscribe", { workspace_id, after_seq: 2 });
    await late.heard(3);
    expect(late.received.map((message) => ("id" in message ? "answer" : message.params.seq))).toEqual([
      "answer",
      3,
      4,
      5,
    ]);
  });

  test("[WIRE74] while 20 writers write, each who resumes gets all of it in order and nothing twice", async () => {
    await folders(wire, 30);
    const writers = await Promise.all(Array.from({ length: 20 }, () => gateway.wire()));
    const writing = Promise.all(writers.map((writer) => folders(writer, 10)));
    const late = await Promise.all(Array.from({ length: 10 }, () => gateway.wire()));
    const resumed = Promise.all(
      late.map(async (each, i) => {
        // One after the other, so that some resume early in the writing and some late.
        await wire.heard(30 + i * 15);
        return each.result("subscribe", { workspace_id, after_seq: i * 3 });
      }),
    );
    await writing;
    expect((await resumed).map(({ resync }) => resync)).toEqual(late.map(() => false));
    for (const [i, each] of late.entries()) {
      await each.heard(230 - i * 3);
      expect(seqs(each.notifications())).toEqual(upTo(230, i * 3 + 1));
    }
  });

  test("[WIRE74] a connection that hears already and subscribes from an earlier number hears it again from there, in order", async () => {
    await folders(wire, 3);
    await wire.heard(3);
    await wire.result("subscribe", { workspace_id, after_seq: 1 });
    await wire.heard(5);
    await folders(wire, 1);
    await wire.heard(6);
    expect(seqs(wire.notifications())).toEqual([1, 2, 3, 2, 3, 4]);
  });

  test("[WIRE80] of several subscriptions to one workspace the last counts", async () => {
    await folders(wire, 150);
    const late = await gateway.wire();
    const answers = [0, 140, 3].map((after_seq) => late.call("subscribe", { workspace_id, after_seq }));
    for (const { result } of await Promise.all(answers)) expect(result).toEqual({ seq: 150, resync: false });
    await folders(wire, 1);
    await late.result("subscribe", { workspace_id });
    const last = () => seqs(late.notifications()).at(-1);
    await expect.poll(last, { timeout: 10_000 }).toBe(151);
    const heard = seqs(late.notifications());
    // From where the last one began everything is there once, in order.
    expect(heard.slice(heard.lastIndexOf(4))).toEqual(upTo(151, 4));
  });

  test("[WIRE75] from the future it answers resync, and goes on live", async () => {
    await folders(wire, 2);
    const late = await gateway.wire();
    for (const after_seq of [3, 1_000, Number.MAX_SAFE_INTEGER]) {
      expect(await late.result("subscribe", { workspace_id, after_seq })).toEqual({ seq: 2, resync: true });
    }
    await folders(wire, 1);
    await late.heard(1);
    expect(seqs(late.notifications())).toEqual([3]);
  });

  test("[WIRE75] too far back it answers resync, and goes on live; the last 2,000 can be had", async () => {
    await saveOften(gateway, workspace_id);
    const { seq } = await wire.result("thread/tree", { workspace_id });
    expect(seq).toBeGreaterThan(2_000);
    const late = await gateway.wire();
    expect(await late.result("subscribe", { workspace_id, after_seq: 1 })).toEqual({ seq, resync: true });
    expect(await late.result("subscribe", { workspace_id, after_seq: seq - 2_000 })).toEqual({
      seq,
      resync: false,
    });
    await late.heard(2_000);
    expect(seqs(late.notifications())).toEqual(upTo(seq, seq - 1_999));
  });

  test("[WIRE79] what was missed may be larger than the send queue: a client that reads is not dropped", async () => {
    const narrow = await startGateway(kind, { limits: { sendQueueBytes: 300_000 } });
    const writer = await narrow.wire();
    const content = (i: number) => `${i} ${"é".repeat(60_000)}`;
    for (let i = 0; i < 50; i++) {
      await writer.result("thread/agents_doc/save", { workspace_id: narrow.home, content: content(i) });
    }
    const late = await narrow.wire();
    await late.result("subscribe", { workspace_id: narrow.home, after_seq: 0 });
    expect(seqs(await late.heard(100))).toEqual(upTo(100));
    expect(late.notifications("thread/agents_doc/changed").map(({ params }) => params.doc?.content)).toEqual(
      Array.from({ length: 50 }, (_, i) => content(i)),
    );
    expect(late.closeCode).toBeUndefined();
    await narrow.stop();
  });

  test("[WIRE82] a replay that others have overtaken ends with 1013 rather than with a gap, and resuming answers resync", async () => {
    const narrow = await startGateway(kind, { limits: { sendQueueBytes: 300_000 } });
    const writer = await narrow.wire();
    for (let i = 0; i < 100; i++) {
      const content = `${i} ${"x".repeat(60_000)}`;
      await writer.result("thread/agents_doc/save", { workspace_id: narrow.home, content });
    }
    const late = await narrow.wire();
    late.socket.pause();
    const params = { workspace_id: narrow.home, after_seq: 0 };
    late.send(JSON.stringify({ jsonrpc: "2.0", id: "late", method: "subscribe", params }));
    await saveOften(narrow, narrow.home);
    late.socket.resume();
    expect(await late.closed()).toBe(1013);
    const heard = seqs(late.notifications());
    expect(heard).toEqual(upTo(heard.length));
    const again = await narrow.wire();
    const resumed = await again.result("subscribe", { workspace_id: narrow.home, after_seq: heard.length });
    expect(resumed.resync).toBe(true);
    await narrow.stop();
  });

  test("[WIRE81] notifications outlive a restart", async () => {
    await folders(wire, 4);
    const told = await wire.heard(4);
    gateway = await gateway.restart();
    const late = await gateway.wire();
    expect(await late.result("subscribe", { workspace_id, after_seq: 1 })).toEqual({ seq: 4, resync: false });
    expect(await late.heard(3)).toEqual(told.slice(1));
    await folders(late, 1);
    expect(seqs(await late.heard(4))).toEqual([2, 3, 4, 5]);
  });
});
