import { afterEach, expect, test } from "vitest";
import type { AppOptions } from "../../src/app/index.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { holdStore } from "../support/hold-store.js";
import { bearer, http, post, postCall, upgrade } from "../support/http.js";
import { onEachStore, type StoreKind, sqliteStore } from "../support/stores.js";

let gateway: TestGateway;
afterEach(() => gateway?.stop());
const start = async (kind: StoreKind, limits: AppOptions["limits"]) => {
  gateway = await startGateway(kind, { limits: { ...limits } });
  return gateway;
};
const overloaded = { code: -32001, data: { kind: "overloaded", retry_after_ms: 100 } };
const request = (id: unknown, method: string, params?: unknown) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

onEachStore("requests under way", (kind) => {
  test("[WIRE90] past so many requests under way the next is refused with -32001, and works a moment later", async () => {
    const { home: workspace_id, place } = await start(kind, { inFlight: 4 });
    const [wire, other] = [await gateway.wire(), await gateway.wire()];
    const release = await holdStore(place);
    for (const i of [1, 2, 3, 4]) {
      wire.send(request(`save ${i}`, "thread/folder/create", { workspace_id, name: `f${i}` }));
    }
    wire.send(request("one too many", "ping"));
    expect((await wire.answerTo("one too many")).error).toMatchObject(overloaded);
    wire.send(request("refused", "thread/folder/create", { workspace_id, name: "refused" }));
    expect((await wire.answerTo("refused")).error).toMatchObject(overloaded);
    // Each connection has a count of its own.
    expect((await other.call("ping")).error).toBeUndefined();
    await release();
    for (const i of [1, 2, 3, 4]) expect((await wire.answerTo(`save ${i}`)).error).toBeUndefined();
    const { folders } = await wire.result("thread/tree", { workspace_id });
    expect(folders.map(({ name }) => name)).toEqual(["f1", "f2", "f3", "f4"]);
  });
});

test("[WIRE91] past the rate a request is refused with -32001, and the bucket fills again", async () => {
  await start(sqliteStore, { rate: 4, burst: 6 });
  const wire = await gateway.wire();
  const answers = await Promise.all(Array.from({ length: 10 }, () => wire.call("ping")));
  const refused = answers.filter(({ error }) => error);
  // Of ten at once six are served; a slow machine may let a token drop in meanwhile.
  expect(refused.length).toBeGreaterThanOrEqual(2);
  expect(refused.length).toBeLessThanOrEqual(4);
  for (const { error } of refused) expect(error).toMatchObject(overloaded);
  await expect
    .poll(async () => (await wire.call("ping")).error, { interval: 300, timeout: 10_000 })
    .toBeUndefined();
  expect((await (await gateway.wire()).call("ping")).error).toBeUndefined();
});

test("[WIRE91] a batch counts as many times as it has requests, and HTTP has one bucket for all", async () => {
  await start(sqliteStore, { rate: 0.01, burst: 5 });
  const batch = Array.from({ length: 8 }, (_, i) => ({ jsonrpc: "2.0", id: i, method: "ping" }));
  const answers = JSON.parse((await post(gateway, batch)).text) as { id: number; error?: object }[];
  expect(answers.map(({ id }) => id)).toEqual(batch.map(({ id }) => id));
  expect(answers.filter(({ error }) => !error)).toHaveLength(5);
  expect((await postCall(gateway, "ping")).error).toMatchObject(overloaded);
});

test("[WIRE92] past so many connections the next WebSocket gets 503, while HTTP goes on", async () => {
  // The gateway of a test has one connection of its own.
  await start(sqliteStore, { connections: 3 });
  const [first] = [await gateway.wire(), await gateway.wire()];
  expect(await upgrade(`${gateway.url}/rpc`, bearer(gateway))).toBe(503);
  expect(await upgrade(`${gateway.url}/rpc`)).toBe(401);
  expect((await postCall(gateway, "ping")).error).toBeUndefined();
  expect((await http(`${gateway.url}/metrics`, { headers: bearer(gateway) })).text).toMatch(
    /^heddle_connections 3$/m,
  );
  first.close();
  await expect.poll(() => upgrade(`${gateway.url}/rpc`, bearer(gateway)), { timeout: 10_000 }).toBe(101);
});

test("[WIRE93] past so many workspaces a connection follows no more, until it unsubscribes", async () => {
  await start(sqliteStore, { subscriptions: 2 });
  const wire = await gateway.wire();
  const make = async () => (await wire.result("workspace/create", { name: "w" })).workspace.id;
  const [a, b, c] = [await make(), await make(), await make()];
  for (let i = 0; i < 5; i++) await wire.error("thread/tree", { workspace_id: `ws_none${i}` });
  await wire.result("subscribe", { workspace_id: a });
  await wire.result("thread/tree", { workspace_id: b });
  for (const [method, more] of [
    ["subscribe", {}],
    ["subscribe", { after_seq: 0 }],
    ["thread/tree", {}],
    ["thread/folder/create", { name: "refused" }],
  ] as const) {
    expect(await wire.error(method, { workspace_id: c, ...more })).toMatchObject({
      code: -32600,
      data: { kind: "request.too_many_subscriptions", limit: 2 },
    });
  }
  await wire.result("unsubscribe", { workspace_id: a });
  expect((await wire.result("thread/tree", { workspace_id: c })).seq).toBe(0);
});
