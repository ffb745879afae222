import { connect as connectSocket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { RpcError } from "../../src/protocol/index.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { post } from "../support/http.js";
import { administrate, onEitherStore, onPostgres, sqliteStore } from "../support/stores.js";
import type { Answer } from "../support/wire.js";

const LARGE = "\u0001".repeat(65_536);

onEitherStore("what one client can make the gateway hold", (kind) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(kind, { limits: { batchAnswer: 4_000_000, subscriptions: 5 } });
    await (await gateway.wire()).result("thread/agents_doc/save", {
      workspace_id: gateway.home,
      content: LARGE,
    });
  });
  afterAll(() => gateway?.stop());

  const batch = (count: number) =>
    Array.from({ length: count }, (_, id) => ({
      jsonrpc: "2.0",
      id,
      method: "thread/agents_doc/get",
      params: { workspace_id: gateway.home },
    }));

  test("[WIRE150] a batch with too large an answer is answered, its rest refused", async () => {
    const wire = await gateway.wire();
    wire.send(JSON.stringify(batch(50)));
    await expect.poll(() => wire.received.length).toBe(1);
    const overSocket = wire.received[0] as unknown as Answer[];
    const overHttp = JSON.parse((await post(gateway, batch(50))).text) as Answer[];
    for (const answers of [overSocket, overHttp]) {
      expect(answers.map(({ id }) => id)).toEqual(batch(50).map(({ id }) => id));
      const refused = answers.filter(({ error }) => error).map(({ error }) => error as RpcError);
      expect(refused.length).toBeGreaterThan(30);
      expect(new Set(refused.map(({ code, data }) => `${code} ${data.kind}`))).toEqual(
        new Set(["-32001 overloaded"]),
      );
    }
    await wire.result("ping", {});
  });

  test("[WIRE153] failing in a workspace that does not exist uses up nothing", async () => {
    const wire = await gateway.wire();
    for (let i = 0; i < 12; i++) {
      await wire.error("thread/list", { workspace_id: `nope${i}`, cursor: "bad" });
      await wire.error("thread/agents_doc/save", { workspace_id: `nope${i}`, content: "x".repeat(65_537) });
    }
    await wire.error("thread/list", { workspace_id: gateway.home, cursor: "bad" });
    const other = await gateway.wire();
    await other.result("thread/folder/create", { workspace_id: gateway.home, name: "heard" });
    await expect.poll(() => wire.notifications("thread/tree/changed").length).toBe(1);
  });

  test("[WIRE154] unsubscribe answers where the workspace stands", async () => {
    const wire = await gateway.wire();
    const { seq } = await wire.result("thread/tree", { workspace_id: gateway.home });
    const left = await wire.result("unsubscribe", { workspace_id: gateway.home });
    expect(left).toEqual({ seq, resync: false, unsubscribed: true });
    expect((await wire.result("unsubscribe", { workspace_id: gateway.home })).unsubscribed).toBe(false);
    expect((await wire.error("unsubscribe", {})).code).toBe(-32602);
    const gone = await wire.result("unsubscribe", { workspace_id: "ws_none" });
    expect(gone).toEqual({ seq: 0, resync: false, unsubscribed: false });
  });

  test("[WIRE155] a long key does not come back whole", async () => {
    const wire = await gateway.wire();
    const key = "k".repeat(1_000_000);
    const error = await wire.error("thread/update", { thread_id: "thr_x", attributes: { [key]: 1 } });
    expect(error.code).toBe(-32602);
    expect(JSON.stringify(error).length).toBeLessThan(2_000);
  });

  test("[WIRE157] what is caused during a replay comes after its answer", async () => {
    const writer = await gateway.wire();
    const workspace_id = (await writer.result("workspace/create", { name: "w" })).workspace.id;
    for (let i = 0; i < 60; i++) {
      await writer.result("thread/agents_doc/save", { workspace_id, content: `${i}` });
    }
    const wire = await gateway.wire();
    const saves = Array.from({ length: 20 }, (_, i) => ({
      jsonrpc: "2.0",
      id: `save${i}`,
      method: "thread/agents_doc/save",
      params: { workspace_id, content: `own ${i}` },
    }));
    wire.send(
      JSON.stringify({
        jsonrpc: "2.0",
        id: "sub",
        method: "subscribe",
        params: { workspace_id, after_seq: 0 },
      }),
    );
    wire.send(JSON.stringify(saves));
    await expect.poll(() => wire.notifications().length, { timeout: 20_000 }).toBe(160);
    const answered = wire.received.findIndex((message) => Array.isArray(message));
    const firstOwn = wire.received.findIndex(
      (message) => "params" in message && message.params.doc?.content.startsWith("own"),
    );
    expect(answered).toBeGreaterThanOrEqual(0);
    expect(firstOwn).toBeGreaterThan(answered);
    const seqs = wire.notifications().map(({ params }) => params.seq);
    expect(seqs).toEqual(Array.from({ length: 160 }, (_, i) => i + 1));
  });
});

test("[WIRE152] a refused upgrade is closed although the client keeps its side open", async () => {
  const gateway = await startGateway(sqliteStore);
  const { hostname, port } = new URL(gateway.url);
  const socket = connectSocket({ host: hostname, port: Number(port), allowHalfOpen: true });
  socket.write(
    `GET /rpc HTTP/1.1\r\nHost: ${hostname}:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  );
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  await new Promise((resolve) => socket.once("end", resolve));
  expect(answer).toContain("401");
  const failed = new Promise((resolve) => socket.once("error", resolve));
  const writing = setInterval(() => socket.write("still here\n"), 20);
  await failed;
  clearInterval(writing);
  socket.destroy();
  await gateway.stop();
});

onPostgres("a gateway that lost its place", (kind) => {
  test("[WIRE156] answers nothing it remembered, and tells its clients what they missed when it is back", async () => {
    const first = await startGateway(kind);
    const wire = await first.wire();
    const workspace_id = first.home;
    await wire.result("thread/agents_doc/save", { workspace_id, content: "old" });
    const { thread } = await wire.result("thread/start", { workspace_id });
    const resolve = { workspace_id, thread_id: thread.id };
    await wire.result("thread/agents_doc/resolve_for_thread", resolve);
    await administrate(
      "select pg_terminate_backend(l.pid) from pg_locks l where l.locktype = 'advisory' and l.database = (select oid from pg_database where datname = current_database())",
      first.place.store,
    );
    const second = await startGateway({
      name: "postgres",
      fresh: async () => ({ ...first.place, ...(await ownDirectory()) }),
    });
    const other = await second.wire();
    await other.result("thread/agents_doc/save", { workspace_id, content: "new" });
    const seen = await wire.result("thread/agents_doc/resolve_for_thread", resolve);
    expect(seen.effective?.doc.content).toBe("new");
    await second.app.stop();
    const reader = await first.wire();
    await reader.error("thread/start", { workspace_id });
    // Live ones have no number, and may come in between.
    const heard = () => wire.notifications().flatMap(({ params }) => params.seq ?? []);
    await expect.poll(() => heard().at(-1), { timeout: 10_000 }).toBe(6);
    expect(heard()).toEqual([1, 2, 3, 4, 5, 6]);
    // Nobody knows what this one had heard of the workspace: it has to come back.
    expect(await reader.closed()).toBe(1013);
    const back = await first.wire();
    const after = await back.result("thread/agents_doc/resolve_for_thread", resolve);
    expect(after.effective?.doc.content).toBe("new");
    await first.stop();
  });

  async function ownDirectory() {
    const { temporaryDirectory } = await import("../support/stores.js");
    return { dataDir: temporaryDirectory(), remove: async () => {} };
  }
});
