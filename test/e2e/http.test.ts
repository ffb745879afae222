import { readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { bearer, http, post, postCall } from "../support/http.js";
import { administrate, onEitherStore, postgresStore } from "../support/stores.js";

onEitherStore("http", (kind) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(kind);
  });
  afterAll(() => gateway?.stop());
  const get = (path: string, headers = {}) => http(gateway.url + path, { headers });

  test("[WIRE40] POST /rpc answers every JSON-RPC answer with status 200", async () => {
    const request = (more: object) => ({ jsonrpc: "2.0", id: 1, method: "ping", ...more });
    const cases: [unknown, number | undefined][] = [
      [request({}), undefined],
      ["{", -32700],
      [[], -32600],
      [request({ method: "no/such" }), -32601],
      [request({ method: "thread/tree" }), -32602],
      [request({ method: "subscribe", params: { workspace_id: gateway.home } }), -32600],
    ];
    for (const [message, code] of cases) {
      const { status, headers, text } = await post(gateway, message);
      expect({ status, type: headers["content-type"], code: JSON.parse(text).error?.code }).toEqual({
        status: 200,
        type: "application/json",
        code,
      });
    }
    expect((await post(gateway, { jsonrpc: "2.0", method: "ping" })).status).toBe(204);
  });

  test("[WIRE40] the type of the body does not matter, and a kept connection serves many requests", async () => {
    for (const type of ["application/json", "text/plain", "application/x-www-form-urlencoded"]) {
      const headers = { ...bearer(gateway), "content-type": type } as Record<string, string>;
      const body = JSON.stringify({ jsonrpc: "2.0", id: type, method: "ping" });
      const answer = await fetch(`${gateway.url}/rpc`, { method: "POST", headers, body });
      expect(await answer.json()).toMatchObject({ id: type, result: {} });
    }
  });

  test("[WIRE41] other methods on /rpc get 405, other addresses 404", async () => {
    for (const method of ["GET", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
      const { status, headers } = await http(`${gateway.url}/rpc`, { method, headers: bearer(gateway) });
      expect({ method, status, allow: headers.allow }).toEqual({ method, status: 405, allow: "POST" });
    }
    for (const path of ["/rpc/", "/RPC", "/no/such", "/metrics/x", "/%72pc/x"]) {
      expect({ path, status: (await get(path, bearer(gateway))).status }).toEqual({ path, status: 404 });
    }
  });

  test("[WIRE42] /healthz says that the process answers", async () => {
    const { status, text } = await get("/healthz");
    expect({ status, body: JSON.parse(text) }).toEqual({ status: 200, body: { status: "ok" } });
  });

  test("[WIRE44] /metrics is Prometheus text that counts what happened", async () => {
    await postCall(gateway, "ping");
    await postCall(gateway, "no/such");
    const { status, headers, text } = await get("/metrics", bearer(gateway));
    expect(status).toBe(200);
    expect(headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
    const samples = parsePrometheus(text);
    expect(samples.get('heddle_requests_total{method="ping",outcome="ok"}')).toBeGreaterThan(0);
    expect(samples.get('heddle_requests_total{method="unknown",outcome="unknown_method"}')).toBeGreaterThan(
      0,
    );
    expect(samples.get("heddle_connections")).toBeGreaterThan(0);
    expect(samples.get("heddle_resident_memory_bytes")).toBeGreaterThan(1e6);
  });

  test("[WIRE45] /schemas/ lists every schema and serves each as it is committed", async () => {
    const { data } = JSON.parse((await get("/schemas/")).text);
    const committed = readdirSync("schemas").map((file) => `/schemas/${file}`);
    expect([...data].sort()).toEqual(committed.sort());
    for (const path of data) {
      const { status, headers, text } = await get(path);
      expect({ status, type: headers["content-type"] }).toEqual({
        status: 200,
        type: "application/schema+json",
      });
      expect(JSON.parse(text)).toEqual(JSON.parse(readFileSync(path.slice(1), "utf8")));
    }
    for (const path of [
      "/schemas/none.json",
      "/schemas/..%2fpackage.json",
      "/schemas/__proto__",
      "/schemas/constructor.json",
    ]) {
      expect({ path, status: (await get(path)).status }).toEqual({ path, status: 404 });
    }
  });

  test("[WIRE46] every answer forbids sniffing and sends no referrer", async () => {
    const answers = [
      await get("/"),
      await get("/healthz"),
      await get("/schemas/folder.json"),
      await get("/metrics"),
      await get("/no/such", bearer(gateway)),
      await post(gateway, "{"),
      await get("/healthz", { host: "evil.example" }),
    ];
    for (const { headers } of answers) {
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
      });
    }
  });

  test("[WIRE47] the page has no script written into it, a policy that allows none, and no secret", async () => {
    const { headers, text } = await get("/");
    expect(headers["content-type"]).toMatch(/^text\/html/);
    const policy = String(headers["content-security-policy"]);
    expect(policy).toMatch(/default-src 'none'/);
    expect(policy).toMatch(/frame-ancestors 'none'/);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(text).not.toMatch(/<script(?![^>]* src="\/assets\/)|javascript:|\son\w+=|<style/i);
    expect(text).not.toContain(gateway.token);
  });

  test("[WIRE48] an upload that is cut off carries nothing out and hurts nobody", async () => {
    const before = (await postCall(gateway, "thread/tree", { workspace_id: gateway.home })).result.seq;
    const params = { workspace_id: gateway.home, name: "half" };
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "thread/folder/create", params });
    const { hostname, port } = new URL(gateway.url);
    for (const [length, sent] of [
      [body.length, body.length - 5],
      [body.length + 50, body.length],
      [50, 0],
    ] as const) {
      const head = `POST /rpc HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${bearer(gateway).authorization}\r\nContent-Length: ${length}\r\n\r\n`;
      await new Promise<void>((resolve) => {
        const socket = connect(Number(port), hostname, () => {
          socket.write(head + body.slice(0, sent), () => socket.destroy());
        });
        socket.on("close", () => resolve());
      });
    }
    expect((await get("/healthz")).status).toBe(200);
    expect((await postCall(gateway, "thread/tree", { workspace_id: gateway.home })).result.seq).toBe(before);
  });

  test("[WIRE43] /readyz says that requests can be carried out", async () => {
    const { status, text } = await get("/readyz");
    expect({ status, body: JSON.parse(text) }).toEqual({ status: 200, body: { ready: true } });
  });
});

describe.skipIf(inject("postgres") === "")("a store that is gone [postgres]", () => {
  test("[WIRE43] [WIRE32] /readyz answers 503 and calls say so until it is back", async () => {
    const lost = await startGateway(postgresStore);
    const wire = await lost.wire();
    const { thread } = await wire.result("thread/start", { workspace_id: lost.home });
    const database = new URL(lost.place.store).pathname.slice(1);
    await loseDatabase(database);
    const ready = await http(`${lost.url}/readyz`);
    expect({ status: ready.status, body: JSON.parse(ready.text) }).toEqual({
      status: 503,
      body: { ready: false, kind: "store.unavailable" },
    });
    expect((await http(`${lost.url}/healthz`)).status).toBe(200);
    const workspace_id = lost.home;
    for (const [method, params, code] of [
      ["thread/tree", { workspace_id }, -32603],
      ["thread/start", { workspace_id }, -32603],
      ["thread/agents_doc/get", { workspace_id }, -32600],
      ["thread/agents_doc/save", { workspace_id, content: "x" }, -32600],
      ["thread/agents_doc/resolve_for_thread", { thread_id: thread.id }, -32600],
    ] as const) {
      const error = await wire.error(method, params);
      expect({ method, code: error.code, kind: error.data.kind }).toEqual({
        method,
        code,
        kind: "store.unavailable",
      });
      expect(JSON.stringify(error)).not.toMatch(/at .*\.ts:|node_modules|password/);
    }
    await administrate(`alter database ${database}_away rename to ${database}`);
    // It comes back by itself.
    await expect.poll(async () => (await http(`${lost.url}/readyz`)).status, { timeout: 10_000 }).toBe(200);
    const { threads } = await wire.result("thread/tree", { workspace_id });
    expect(threads.map(({ id }) => id)).toEqual([thread.id]);
    await lost.stop();
  });
});

/** Takes a database away from whoever uses it. */
async function loseDatabase(database: string): Promise<void> {
  await administrate(`alter database ${database} with allow_connections false`);
  await administrate(`select pg_terminate_backend(pid) from pg_stat_activity where datname = '${database}'`);
  await administrate(`alter database ${database} rename to ${database}_away`);
  await administrate(`alter database ${database}_away with allow_connections true`);
}

/** Reads Prometheus' text format strictly: every sample belongs to a metric that was declared, every line is one of its kinds. */
function parsePrometheus(text: string): Map<string, number> {
  const samples = new Map<string, number>();
  const declared = new Set<string>();
  if (!text.endsWith("\n")) throw new Error("the last line has no end");
  for (const line of text.split("\n")) {
    if (line === "") continue;
    const comment = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line);
    if (comment) {
      if (comment[1] === "TYPE") declared.add(comment[2] as string);
      continue;
    }
    const sample =
      /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-z_]+="[^"\\\n]*"(?:,[a-z_]+="[^"\\\n]*")*\})? (-?[0-9.e+-]+)$/.exec(
        line,
      );
    if (!sample || !declared.has(sample[1] as string)) throw new Error(`not a sample: ${line}`);
    samples.set(`${sample[1]}${sample[2] ?? ""}`, Number(sample[3]));
  }
  return samples;
}
