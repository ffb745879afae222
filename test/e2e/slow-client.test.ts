import { PassThrough } from "node:stream";
import { afterEach, beforeEach, expect, test } from "vitest";
import { WebSocket } from "ws";
import { startGateway } from "../support/gateway.js";
import { holdStore } from "../support/hold-store.js";
import { bearer, http } from "../support/http.js";
import { HeddleProcess, type Ready } from "../support/process.js";
import { onEachStore, type StorePlace, sqliteStore } from "../support/stores.js";
import { Wire } from "../support/wire.js";

const MB = 1024 * 1024;
const GETS = 'heddle_requests_total{method="thread/agents_doc/get",outcome="ok"}';

/** A gateway in a process of its own, whose memory is only what it holds for its clients. */
let place: StorePlace;
let heddle: HeddleProcess;
let ready: Ready;
let workspace_id: string;
let wires: Wire[];

beforeEach(async () => {
  place = await sqliteStore.fresh();
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
  wires = [];
  const wire = await connect();
  workspace_id = (await wire.result("workspace/list", {})).data[0]?.id as string;
});
afterEach(async () => {
  for (const wire of wires) wire.close();
  await heddle.end();
  await place.remove();
});

async function connect(): Promise<Wire> {
  const wire = await Wire.open(ready.url, ready.token);
  wires.push(wire);
  return wire;
}

async function metric(name: string, door: { url: string; token: string } = ready): Promise<number> {
  const { text } = await http(`${door.url}/metrics`, { headers: bearer(door) });
  const line = text.split("\n").find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1));
}

const memory = () => metric("heddle_resident_memory_bytes");
const median = (times: number[]) => times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0;

/** Saves large documents, and answers how long each took. */
async function save(wire: Wire, count: number, from: number): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const content = `${from + i} ${"x".repeat(60_000)}`;
    const begun = performance.now();
    await wire.result("thread/agents_doc/save", { workspace_id, content });
    times.push(performance.now() - begun);
  }
  return times;
}

test("[WIRE94] clients that stop reading hold up nobody, cost no memory without end, are dropped with 1013 and can resume", async () => {
  const [writer, listener] = [await connect(), await connect()];
  await listener.result("subscribe", { workspace_id });
  const before = median(await save(writer, 100, 0));
  const idle = await memory();
  const slow = await Promise.all(Array.from({ length: 5 }, connect));
  for (const each of slow) {
    await each.result("subscribe", { workspace_id });
    each.socket.pause();
  }
  const times: number[] = [];
  let peak = 0;
  for (let i = 0; i < 60 && (await metric("heddle_slow_connections_total")) < 5; i++) {
    times.push(...(await save(writer, 20, 100 + i * 20)));
    peak = Math.max(peak, await memory());
  }
  expect(await metric("heddle_slow_connections_total")).toBe(5);
  for (const each of slow) each.socket.resume();
  for (const each of slow) {
    expect(await each.closed()).toBe(1013);
    expect(each.closeReason).toMatch(/resume/);
  }
  expect(median(times)).toBeLessThan(before * 3 + 10);
  // Five queues of 8 MB, twice: as text and as bytes on their way; the rest is room for the collector.
  expect(peak - idle).toBeLessThan(150 * MB);

  const { seq } = await writer.result("thread/tree", { workspace_id });
  await listener.heard(seq);
  const heard = slow[0]?.notifications() ?? [];
  const resumed = await connect();
  const after_seq = heard.at(-1)?.params.seq ?? 0;
  expect(await resumed.result("subscribe", { workspace_id, after_seq })).toEqual({ seq, resync: false });
  await resumed.heard(seq - after_seq);
  const all = [...heard, ...resumed.notifications()].map(({ params }) => params.seq);
  expect(all).toEqual(Array.from({ length: all.length }, (_, i) => seq - all.length + 1 + i));
}, 120_000);

test("[WIRE95] a client that asks and does not read is asked to wait, and gets every answer when it reads", async () => {
  const wire = await connect();
  await save(wire, 1, 0);
  const size = JSON.stringify(await wire.result("thread/agents_doc/get", { workspace_id })).length;
  const idle = await memory();
  const greedy = new WebSocket(`${ready.url.replace("http", "ws")}/rpc`, { headers: { ...bearer(ready) } });
  let answered = 0;
  greedy.on("message", () => answered++);
  await new Promise((resolve) => greedy.once("open", resolve));
  greedy.pause();
  const count = Math.ceil((400 * MB) / size);
  for (let i = 0; i < count; i++) {
    greedy.send(
      JSON.stringify({ jsonrpc: "2.0", id: i, method: "thread/agents_doc/get", params: { workspace_id } }),
    );
  }
  // Others are served meanwhile, and each round trip gives the gateway time to do what it is going to do.
  let peak = 0;
  for (let i = 0; i < 60; i++) {
    await wire.result("thread/tree", { workspace_id });
    peak = Math.max(peak, await memory());
  }
  expect(peak - idle).toBeLessThan(150 * MB);
  greedy.resume();
  await expect.poll(() => answered, { timeout: 60_000 }).toBe(count);
  greedy.terminate();
}, 120_000);

test("[WIRE96] messages are read only as fast as they are carried out", async () => {
  const wire = await connect();
  await wire.result("thread/tree", { workspace_id });
  const idle = await memory();
  const release = await holdStore(place);
  const padding = "p".repeat(250_000);
  const pings = Array.from({ length: 16 }, (_, i) => ({
    jsonrpc: "2.0",
    id: `p${i}`,
    method: "ping",
    params: { padding },
  }));
  for (let i = 0; i < 60; i++) {
    const params = { workspace_id, name: `f${i}` };
    wire.send(
      JSON.stringify([{ jsonrpc: "2.0", id: `f${i}`, method: "thread/folder/create", params }, ...pings]),
    );
  }
  // 240 MB are on their way; as long as nothing can be written, few of them may be in the gateway.
  let peak = 0;
  // Well within the five seconds after which a write would be refused.
  const until = performance.now() + 2_000;
  for (let i = 0; i < 20 && performance.now() < until; i++) peak = Math.max(peak, await memory());
  await release();
  expect(peak - idle).toBeLessThan(150 * MB);
  const told = await wire.heard(60);
  expect(told.at(-1)?.params.seq).toBe(60);
  const { folders } = await wire.result("thread/tree", { workspace_id });
  expect(folders.map(({ name }) => name)).toEqual(Array.from({ length: 60 }, (_, i) => `f${i}`));
}, 120_000);

onEachStore("a large answer", (kind) => {
  test("[WIRE97] a client that is still reading answers is not taken for a slow one", async () => {
    const limits = { sendQueueBytes: 200_000, batchAnswer: 100_000_000 };
    const gateway = await startGateway(kind, { limits });
    const [wire, writer] = [await gateway.wire(), await gateway.wire()];
    const { home } = gateway;
    for (let i = 0; i < 10; i++) {
      const { folder } = await writer.result("thread/folder/create", { workspace_id: home, name: `f${i}` });
      const content = `${i} ${"x".repeat(60_000)}`;
      await writer.result("thread/agents_doc/save", { workspace_id: home, folder_id: folder.id, content });
    }
    const { agents_docs } = await wire.result("thread/tree", { workspace_id: home });
    wire.socket.pause();
    const batch = Array.from({ length: 500 }, (_, i) => ({
      jsonrpc: "2.0",
      id: `d${i}`,
      method: "thread/agents_doc/get",
      params: { workspace_id: home, folder_id: agents_docs[i % 10]?.folder_id },
    }));
    // 60 MB of answers in one, far more than fits in the sockets between.
    wire.send(JSON.stringify(batch));
    await expect.poll(() => metric(GETS, gateway), { timeout: 20_000 }).toBe(500);
    for (let i = 0; i < 20; i++) {
      await writer.result("thread/folder/create", { workspace_id: home, name: "meanwhile" });
    }
    wire.socket.resume();
    await wire.heard(20);
    expect(wire.closeCode).toBeUndefined();
    expect(wire.received.filter(Array.isArray)).toHaveLength(1);
    await gateway.stop();
  });
});

test("[WIRE95] over stdio too: what is not read is not asked for further", async () => {
  const gateway = await startGateway(sqliteStore, { limits: { sendQueueBytes: 200_000 } });
  const wire = await gateway.wire();
  const content = "x".repeat(60_000);
  await wire.result("thread/agents_doc/save", { workspace_id: gateway.home, content });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const served = gateway.app.gateway.stdio(input, output);
  const params = { workspace_id: gateway.home };
  for (let id = 0; id < 500; id++) {
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id, method: "thread/agents_doc/get", params })}\n`);
  }
  await expect.poll(() => output.writableLength, { timeout: 10_000 }).toBeGreaterThan(0);
  for (let i = 0; i < 20; i++) await wire.result("ping", {});
  const held = output.writableLength + output.readableLength;
  // The answers that were begun in one turn, and no more: of 60 MB a few.
  expect(held).toBeLessThan(10 * MB);
  let lines = 0;
  output.on("data", (chunk: Buffer) => {
    lines += chunk.filter((byte) => byte === 0x0a).length;
  });
  input.end();
  await served;
  expect(lines).toBe(500);
  await gateway.stop();
});
