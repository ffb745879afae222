import { connect } from "node:net";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { holdStore } from "../support/hold-store.js";
import { bearer, http, post, postCall, upgrade } from "../support/http.js";
import { HeddleProcess, type Ready } from "../support/process.js";
import { onEitherStore, type StorePlace, sqliteStore } from "../support/stores.js";
import { Wire } from "../support/wire.js";

let place: StorePlace;
let heddle: HeddleProcess;
let ready: Ready;
let workspace_id: string;
async function start() {
  heddle = new HeddleProcess([
    "serve",
    "--json",
    "--port",
    "0",
    "--data",
    place.dataDir,
    "--store",
    place.store,
  ]);
  ready = await heddle.ready();
  workspace_id = (await postCall(ready, "workspace/list", {})).result.data[0].id;
}
afterEach(async () => {
  await heddle?.end();
  await place?.remove();
});
const create = (name: string) => ({ method: "thread/folder/create", params: { workspace_id, name } });
const readyz = async () => (await http(`${ready.url}/readyz`).catch(() => ({ status: 0 }))).status;

onEitherStore("stop", (kind) => {
  beforeEach(async () => {
    place = await kind.fresh();
    await start();
  });

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    test(`[WIRE132] ${signal} lets requests under way end, on every transport, and exits with 0`, async () => {
      const wire = await Wire.open(ready.url, ready.token);
      const release = await holdStore(place);
      onTestFinished(release);
      const overHttp = post(ready, { jsonrpc: "2.0", id: 1, ...create("http") });
      const batch = [create("batch 1"), create("batch 2")].map((each, id) => ({
        jsonrpc: "2.0",
        id,
        ...each,
      }));
      const overBatch = post(ready, batch);
      const overSocket = wire.call("thread/folder/create", { workspace_id, name: "socket" });
      await wire.call("ping");
      await expect.poll(() => underWay(ready), { timeout: 10_000 }).toBe(3);
      heddle.signal(signal);
      await expect.poll(readyz, { timeout: 10_000 }).toBe(503);
      await release();
      expect((await overSocket).result.folder.name).toBe("socket");
      expect(JSON.parse((await overHttp).text).result.folder.name).toBe("http");
      expect(JSON.parse((await overBatch).text)).toMatchObject([{ result: {} }, { result: {} }]);
      expect(await wire.closed()).toBe(1001);
      expect(await heddle.exited).toEqual({ code: 0, signal: null });
      expect(heddle.stderr).toContain("stopped");
      await start();
      const { folders } = (await postCall(ready, "thread/tree", { workspace_id })).result;
      expect(folders.map(({ name }: { name: string }) => name).sort()).toEqual([
        "batch 1",
        "batch 2",
        "http",
        "socket",
      ]);
    });
  }

  test("[WIRE139] while it stops, new requests are refused with -32001 and carry nothing out", async () => {
    const wire = await Wire.open(ready.url, ready.token);
    const release = await holdStore(place);
    onTestFinished(release);
    const under = wire.call("thread/folder/create", { workspace_id, name: "before" });
    await wire.call("ping");
    heddle.signal("SIGTERM");
    await expect.poll(readyz, { timeout: 10_000 }).toBe(503);
    const stopping = { code: -32001, data: { kind: "stopping" } };
    expect(
      (await wire.call("thread/folder/create", { workspace_id, name: "after" }, "late")).error,
    ).toMatchObject(stopping);
    expect(
      (await postCall(ready, "thread/folder/create", { workspace_id, name: "after" })).error,
    ).toMatchObject(stopping);
    expect(await upgrade(`${ready.url}/rpc`, bearer(ready))).toBe(503);
    await release();
    expect((await under).result.folder.name).toBe("before");
    expect((await heddle.exited).code).toBe(0);
    await start();
    expect((await postCall(ready, "thread/tree", { workspace_id })).result.folders).toMatchObject([
      { name: "before" },
    ]);
  });
});

test("[WIRE132] idle connections, half-sent requests and clients that read nothing hold it up no longer than its five seconds", async () => {
  place = await sqliteStore.fresh();
  await start();
  const { hostname, port } = new URL(ready.url);
  const idle = connect(Number(port), hostname);
  const half = connect(Number(port), hostname);
  for (const socket of [idle, half]) socket.on("error", () => {});
  half.write(
    `POST /rpc HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${bearer(ready).authorization}\r\nContent-Length: 100\r\n\r\n{`,
  );
  const wire = await Wire.open(ready.url, ready.token);
  wire.socket.pause();
  wire.send(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }));
  heddle.signal("SIGTERM");
  expect(await heddle.exited).toEqual({ code: 0, signal: null });
  for (const socket of [idle, half]) socket.destroy();
  wire.close();
}, 20_000);

test("[WIRE132] what can't be finished in time does not keep it from exiting with 0", async () => {
  place = await sqliteStore.fresh();
  await start();
  const release = await holdStore(place);
  onTestFinished(release);
  const wire = await Wire.open(ready.url, ready.token);
  wire.send(JSON.stringify({ jsonrpc: "2.0", id: "never", ...create("never") }));
  await wire.call("ping");
  heddle.signal("SIGTERM");
  const begun = performance.now();
  expect(await heddle.exited).toEqual({ code: 0, signal: null });
  expect(performance.now() - begun).toBeLessThan(15_000);
  expect(wire.closeCode).toBeDefined();
}, 30_000);

async function underWay(door: Ready): Promise<number> {
  const { text } = await http(`${door.url}/metrics`, { headers: bearer(door) });
  return Number(/^heddle_requests_in_flight (\d+)$/m.exec(text)?.[1] ?? -1);
}
