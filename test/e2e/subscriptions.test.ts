import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { postCall } from "../support/http.js";
import { onEachStore } from "../support/stores.js";
import type { Notification, Wire } from "../support/wire.js";

onEachStore("subscriptions", (kind) => {
  let gateway: TestGateway;
  let wire: Wire;
  let other: Wire;
  let workspace_id: string;
  beforeAll(async () => {
    gateway = await startGateway(kind);
  });
  afterAll(() => gateway?.stop());
  beforeEach(async () => {
    wire = await gateway.wire();
    other = await gateway.wire();
    workspace_id = (await wire.result("workspace/create", { name: "w" })).workspace.id;
  });

  const folder = (by: Wire, name = "f") => by.result("thread/folder/create", { workspace_id, name });
  const seqs = (told: Notification[]) => told.map(({ params }) => params.seq);
  /** A connection's own thread/tree is answered after all that was told to it before. */
  const toldTo = async (by: Wire) => {
    await by.result("ping", {});
    return by.notifications();
  };

  test("[WIRE70] a connection hears of a workspace from its first call in it on", async () => {
    await folder(wire);
    await wire.heard(1);
    expect(await toldTo(other)).toEqual([]);
    await other.result("thread/tree", { workspace_id });
    await folder(wire);
    const told = await other.heard(1);
    expect(told).toMatchObject([{ method: "thread/tree/changed", params: { workspace_id, seq: 2 } }]);
    expect((await wire.heard(2))[1]).toEqual(told[0]);
  });

  test("[WIRE70] every kind of call in a workspace counts, also one that names only a thread", async () => {
    const { thread } = await wire.result("thread/start", { workspace_id });
    const { folder: made } = await folder(wire);
    const { doc } = await wire.result("thread/agents_doc/save", { workspace_id, content: "x" });
    const calls: [string, object][] = [
      ["workspace/get", { workspace_id }],
      ["workspace/update", { workspace_id, name: "w" }],
      ["thread/list", { workspace_id }],
      ["thread/get", { thread_id: thread.id }],
      ["thread/update", { thread_id: thread.id, title: thread.title }],
      ["thread/agents_doc/get", { workspace_id, folder_id: made.id }],
      ["thread/agents_doc/resolve_for_thread", { thread_id: thread.id }],
      ["thread/agents_doc/revision", { workspace_id, doc_id: doc.id, version: 1 }],
      ["thread/agents_doc/archive", { workspace_id, folder_id: made.id }],
    ];
    const listeners: Wire[] = [];
    for (const [method, params] of calls) {
      const listener = await gateway.wire();
      expect((await listener.call(method, params)).error).toBeUndefined();
      listeners.push(listener);
    }
    await folder(wire);
    for (const listener of listeners) await listener.heard(1);
    expect(listeners.map((listener) => seqs(listener.notifications()))).toEqual(calls.map(() => [6]));
  });

  test("[WIRE70] a refused call in a workspace that exists counts too", async () => {
    await other.error("thread/agents_doc/get", { workspace_id, folder_id: "fld_none" });
    await folder(wire);
    expect(seqs(await other.heard(1))).toEqual([1]);
  });

  test("[WIRE71] a workspace that is unknown or deleted is not followed", async () => {
    const { workspace } = await wire.result("workspace/create", { name: "gone" });
    await wire.result("workspace/delete", { workspace_id: workspace.id });
    for (const params of [{ workspace_id: "ws_none" }, { workspace_id: workspace.id }]) {
      for (const method of [
        "thread/tree",
        "thread/list",
        "subscribe",
        "thread/agents_doc/get",
        "workspace/get",
      ]) {
        expect(await other.error(method, params)).toMatchObject({
          code: -32602,
          data: { kind: "workspace.not_found" },
        });
      }
      expect(await other.error("subscribe", { ...params, after_seq: 0 })).toMatchObject({
        data: { kind: "workspace.not_found" },
      });
    }
    await wire.result("workspace/undelete", { workspace_id: workspace.id });
    await wire.heard(1);
    expect(await toldTo(other)).toEqual([]);
    expect(await other.result("unsubscribe", { workspace_id: workspace.id })).toMatchObject({
      unsubscribed: false,
    });
    expect(await other.result("unsubscribe", { workspace_id: "ws_none" })).toMatchObject({
      unsubscribed: false,
    });
  });

  test("[WIRE71] a thread asked for in an unknown workspace does not make it followed", async () => {
    const { thread } = await wire.result("thread/start", { workspace_id });
    for (const method of [
      "thread/get",
      "thread/update",
      "thread/delete",
      "thread/undelete",
      "thread/move",
      "thread/agents_doc/resolve_for_thread",
      "subscribe",
    ]) {
      expect(await other.error(method, { workspace_id: "ws_none", thread_id: thread.id })).toMatchObject({
        code: -32602,
      });
    }
    expect(await other.result("unsubscribe", { workspace_id: "ws_none" })).toMatchObject({
      unsubscribed: false,
    });
  });

  test("[WIRE72] the answer comes first, then the notifications, to every subscriber alike", async () => {
    await other.result("subscribe", { workspace_id });
    const { folder: made } = await folder(wire);
    await wire.result("thread/agents_doc/save", { workspace_id, folder_id: made.id, content: "x" });
    await wire.result("thread/start", { workspace_id, folder_id: made.id });
    const told = await wire.heard(5);
    expect(await other.heard(5)).toEqual(told);
    const order = wire.received
      .slice(1)
      .map((message) => ("method" in message ? message.params.seq : "answer"));
    expect(order).toEqual(["answer", 1, "answer", 2, 3, "answer", 4, 5]);
  });

  test("[WIRE72] of many requests at once each is answered before what it caused", async () => {
    await other.result("subscribe", { workspace_id });
    const made = await Promise.all(Array.from({ length: 50 }, (_, i) => folder(wire, `f${i}`)));
    await wire.heard(50);
    for (const { folder: each } of made) {
      const answered = wire.received.findIndex(
        (message) => "result" in message && message.result.folder?.id === each.id,
      );
      const told = wire.received.findIndex(
        (message) => "params" in message && message.params.changes?.folders?.[0]?.id === each.id,
      );
      expect(answered).toBeGreaterThanOrEqual(0);
      expect(told).toBeGreaterThan(answered);
    }
    expect(await other.heard(50)).toEqual(wire.notifications());
  });

  test("[WIRE73] seq counts every durable notification of a workspace without a gap, and of no other", async () => {
    const { workspace } = await wire.result("workspace/create", { name: "other" });
    for (let i = 0; i < 5; i++) {
      await folder(wire);
      await wire.result("thread/folder/create", { workspace_id: workspace.id, name: "elsewhere" });
      await wire.result("thread/start", { workspace_id });
    }
    await wire.error("thread/folder/create", { workspace_id, name: "" });
    await wire.result("thread/agents_doc/archive", { workspace_id });
    const told = await wire.heard(20);
    const of = (id: string) =>
      told.filter(({ params }) => (params.workspace_id ?? params.thread?.workspace_id) === id);
    expect(seqs(of(workspace_id))).toEqual(Array.from({ length: 15 }, (_, i) => i + 1));
    expect(seqs(of(workspace.id))).toEqual([1, 2, 3, 4, 5]);
    expect((await wire.result("thread/tree", { workspace_id })).seq).toBe(15);
  });

  test("[WIRE76] after unsubscribe nothing more comes, until the next call in the workspace", async () => {
    await other.result("subscribe", { workspace_id });
    await folder(wire);
    await other.heard(1);
    expect(await other.result("unsubscribe", { workspace_id })).toMatchObject({ unsubscribed: true });
    expect(await other.result("unsubscribe", { workspace_id })).toMatchObject({ unsubscribed: false });
    await folder(wire);
    await wire.heard(2);
    expect(seqs(await toldTo(other))).toEqual([1]);
    await other.result("workspace/get", { workspace_id });
    await folder(wire);
    expect(seqs(await other.heard(2))).toEqual([1, 3]);
  });

  test("[WIRE77] over HTTP subscribe says that it can't, and calls work without", async () => {
    expect((await postCall(gateway, "subscribe", { workspace_id })).error).toMatchObject({
      code: -32600,
      message: expect.stringContaining("WebSocket"),
      data: { kind: "request.needs_connection", method: "subscribe" },
    });
    expect((await postCall(gateway, "unsubscribe", { workspace_id })).result).toMatchObject({
      unsubscribed: false,
    });
    expect((await postCall(gateway, "thread/tree", { workspace_id })).result.workspace_id).toBe(workspace_id);
  });

  test("[WIRE77] what is changed over HTTP is told to those who are connected", async () => {
    await wire.result("subscribe", { workspace_id });
    await postCall(gateway, "thread/folder/create", { workspace_id, name: "by http" });
    expect(seqs(await wire.heard(1))).toEqual([1]);
  });

  test("[WIRE78] subscribe to a thread follows its workspace; without either it is refused", async () => {
    const { thread } = await wire.result("thread/start", { workspace_id });
    expect(await other.result("subscribe", { thread_id: thread.id })).toEqual({ seq: 2, resync: false });
    await folder(wire);
    expect(seqs(await other.heard(1))).toEqual([3]);
    expect(await other.result("unsubscribe", { thread_id: thread.id })).toMatchObject({ unsubscribed: true });
    for (const params of [{}, { after_seq: 0 }, { workspace_id: null, thread_id: null }]) {
      expect(await other.error("subscribe", params)).toMatchObject({
        code: -32602,
        data: { kind: "invalid_params" },
      });
    }
    expect(await other.error("subscribe", { thread_id: "thr_none" })).toMatchObject({
      code: -32602,
      data: { kind: "thread.not_found" },
    });
    expect(
      await other.error("subscribe", { workspace_id: gateway.home, thread_id: thread.id }),
    ).toMatchObject({
      code: -32602,
      data: { kind: "thread.not_found" },
    });
    for (const after_seq of [-1, 1.5, "1", 2 ** 53]) {
      expect(await other.error("subscribe", { workspace_id, after_seq })).toMatchObject({ code: -32602 });
    }
  });
});
