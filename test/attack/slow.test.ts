import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { bearer, http } from "../support/http.js";
import { sqliteStore } from "../support/stores.js";
import type { Wire } from "../support/wire.js";

let gateway: TestGateway;
let wire: Wire;
beforeAll(async () => {
  gateway = await startGateway(sqliteStore, { limits: { headersMs: 400, requestMs: 800 } });
  wire = await gateway.wire();
});
afterAll(() => gateway?.stop());

/** A connection that says something every now and then, and never comes to an end. */
class Loris {
  readonly begun = performance.now();
  readonly socket: Socket;
  readonly ended: Promise<number>;
  got = "";
  readonly #timer: NodeJS.Timeout;

  constructor(head: string, drop = "", { url } = gateway) {
    const { hostname, port } = new URL(url);
    this.socket = connect(Number(port), hostname);
    this.socket.write(head);
    this.socket.on("data", (data) => {
      this.got += data;
    });
    this.socket.on("error", () => {});
    this.#timer = setInterval(() => drop && this.socket.write(drop), 50);
    this.ended = new Promise((resolve) => {
      this.socket.on("close", () => {
        clearInterval(this.#timer);
        resolve(performance.now() - this.begun);
      });
    });
  }

  release(): void {
    this.socket.destroy();
  }
}

/** How long it was let stay, at most; a busy machine looks later. */
const LATEST_MS = 10_000;
const within = (loris: Loris) =>
  Promise.race([loris.ended, sleep(LATEST_MS, Number.POSITIVE_INFINITY).finally(() => loris.release())]);

const head = (more: string) =>
  `POST /rpc HTTP/1.1\r\nHost: ${new URL(gateway.url).host}\r\nAuthorization: ${bearer(gateway).authorization}\r\n${more}`;
const folders = async () => (await wire.result("thread/tree", { workspace_id: gateway.home })).folders.length;

test("[ATK60] who is slow with the headers, or says nothing at all, is cut off, and holds up nobody", async () => {
  const all = [
    ...Array.from({ length: 8 }, () => new Loris(head(""), "X-More: x\r\n")),
    ...Array.from({ length: 8 }, () => new Loris("")),
    ...Array.from({ length: 8 }, () => new Loris("POST /rpc HT", "T")),
  ];
  expect((await http(`${gateway.url}/healthz`)).status).toBe(200);
  const stayed = await Promise.all(all.map(within));
  for (const [at, ms] of stayed.entries())
    expect({ at, ms, cut: ms < LATEST_MS }).toMatchObject({ at, cut: true });
  expect((await http(`${gateway.url}/healthz`)).status).toBe(200);
});

test("[ATK61] who is slow with a body is cut off, and nothing of it is carried out", async () => {
  const before = await folders();
  const params = { workspace_id: gateway.home, name: "slow" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "thread/folder/create", params });
  const all = [
    ...Array.from(
      { length: 8 },
      () => new Loris(head(`Content-Length: ${body.length + 1_000}\r\n\r\n${body}`), " "),
    ),
    ...Array.from({ length: 8 }, () => new Loris(head("Transfer-Encoding: chunked\r\n\r\n"), "1\r\n \r\n")),
  ];
  const stayed = await Promise.all(all.map(within));
  for (const [at, ms] of stayed.entries())
    expect({ at, ms, cut: ms < LATEST_MS }).toMatchObject({ at, cut: true });
  expect(await folders()).toBe(before);
});

test("[ATK62] more sockets than there may be are closed; who is connected goes on, and so do files", async () => {
  const narrow = await startGateway(sqliteStore, { limits: { sockets: 60 } });
  onTestFinished(() => narrow.stop());
  const connected = await narrow.wire();
  const all = Array.from({ length: 200 }, () => new Loris("", "", narrow));
  // Who was let in and is late is told so; these were not let in.
  const unheard = () => all.filter(({ socket, got }) => socket.destroyed && got === "").length;
  await expect.poll(unheard).toBeGreaterThan(130);
  const { thread } = await connected.result("thread/start", { workspace_id: narrow.home });
  const message = { role: "user" as const, content: "still here" };
  await connected.result("message/append", { thread_id: thread.id, message });
  for (const each of all) each.release();
  const healthy = () =>
    http(`${narrow.url}/healthz`).then(
      ({ status }) => status,
      () => 0,
    );
  await expect.poll(healthy).toBe(200);
});
