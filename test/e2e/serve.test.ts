import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { http, postCall, upgrade } from "../support/http.js";
import { HeddleProcess } from "../support/process.js";
import { onEachStore, type StorePlace, sqliteStore, temporaryDirectory } from "../support/stores.js";
import { Wire } from "../support/wire.js";

let place: StorePlace;
const started: HeddleProcess[] = [];
const run = (args: string[], env: NodeJS.ProcessEnv = {}) => {
  const heddle = new HeddleProcess(args, env);
  started.push(heddle);
  return heddle;
};
const serve = (...more: string[]) =>
  run(["serve", "--json", "--port", "0", "--data", place.dataDir, "--store", place.store, ...more]);
const mode = (file: string) => (statSync(join(place.dataDir, file)).mode & 0o777).toString(8);
const address = () => JSON.parse(readFileSync(join(place.dataDir, "gateway.json"), "utf8"));
afterEach(async () => {
  for (const heddle of started.splice(0)) await heddle.end();
  await place?.remove();
});

onEachStore("serve", (kind) => {
  beforeEach(async () => {
    place = await kind.fresh();
  });

  test("[WIRE130] --json prints one line when requests are accepted, and nothing else", async () => {
    const heddle = serve();
    const ready = await heddle.ready();
    expect(ready).toEqual({
      ready: true,
      url: `http://127.0.0.1:${ready.port}`,
      port: expect.any(Number),
      token: expect.stringMatching(/^[\w-]{43}$/),
      pid: heddle.pid,
    });
    expect(await postCall(ready, "workspace/list", {})).toMatchObject({
      result: { data: [{ name: "Home" }] },
    });
    expect((await http(`${ready.url}/readyz`)).status).toBe(200);
    heddle.signal("SIGTERM");
    expect(await heddle.exited).toEqual({ code: 0, signal: null });
    expect(heddle.stdout).toBe(`${JSON.stringify(ready)}\n`);
    for (const line of heddle.stderr.trim().split("\n"))
      expect(JSON.parse(line)).toMatchObject({ pid: heddle.pid });
  });

  test("[WIRE131] a running gateway can be found by gateway.json, which only its owner can read", async () => {
    const heddle = serve();
    const { url, token, pid } = await heddle.ready();
    expect(address()).toEqual({ url, token, pid });
    expect([mode("gateway.json"), mode("token")]).toEqual(["600", "600"]);
    heddle.signal("SIGINT");
    expect((await heddle.exited).code).toBe(0);
    expect(existsSync(join(place.dataDir, "gateway.json"))).toBe(false);
  });

  test("[WIRE131] the token is the same from one start to the next; --token is used and not kept", async () => {
    const tokens: string[] = [];
    for (const more of [[], ["--token", "chosen"], []]) {
      const heddle = serve(...more);
      const ready = await heddle.ready();
      tokens.push(ready.token);
      expect((await postCall(ready, "ping")).error).toBeUndefined();
      heddle.signal("SIGTERM");
      await heddle.exited;
    }
    expect(tokens).toEqual([tokens[0], "chosen", tokens[0]]);
    expect(readFileSync(join(place.dataDir, "token"), "utf8")).toBe(tokens[0]);
  });

  test("[WIRE135] after kill -9 the next start works and has everything that was answered", async () => {
    const heddle = serve();
    const ready = await heddle.ready();
    const wire = await Wire.open(ready.url, ready.token);
    const workspace_id = (await wire.result("workspace/list", {})).data[0]?.id as string;
    const saved: string[] = [];
    const saving = (async () => {
      for (let i = 0; ; i++) {
        const { error } = await wire.call("thread/agents_doc/save", { workspace_id, content: `v${i}` });
        if (!error) saved.push(`v${i}`);
      }
    })().catch(() => {});
    await expect.poll(() => saved.length, { timeout: 10_000 }).toBeGreaterThan(20);
    heddle.signal("SIGKILL");
    expect((await heddle.exited).signal).toBe("SIGKILL");
    await wire.closed();
    wire.close();
    void saving;
    expect(address().pid).toBe(heddle.pid);
    const again = serve();
    const second = await again.ready();
    expect(address()).toEqual({ url: second.url, token: ready.token, pid: again.pid });
    const { result } = await postCall(second, "thread/agents_doc/get", { workspace_id });
    const version = Number(result.explicit.content.slice(1)) + 1;
    // The last one may have been written without its answer getting through.
    expect(version - saved.length).toBeGreaterThanOrEqual(0);
    expect(version - saved.length).toBeLessThanOrEqual(1);
    expect(result.explicit.version).toBe(version);
  });

  test("[WIRE134] a second gateway on the same data is refused with a message that names the first", async () => {
    const first = serve();
    const ready = await first.ready();
    const second = serve();
    expect((await second.exited).code).toBe(1);
    expect(JSON.parse(second.stderr).error).toMatchObject({
      kind: "store.taken",
      message: expect.stringContaining(`process ${first.pid}, ${ready.url}`),
    });
    expect(second.stdout).toBe("");
    const plain = run(["serve", "--port", "0", "--data", place.dataDir, "--store", place.store, "--no-open"]);
    expect((await plain.exited).code).toBe(1);
    expect(plain.stderr).toMatch(new RegExp(`^heddle: Another gateway is using ${place.dataDir} .*--data`));
    expect((await postCall(ready, "ping")).error).toBeUndefined();
    expect(address().pid).toBe(first.pid);
  });
});

test("[WIRE133] a taken port is a clear error that names it, and leaves nothing behind", async () => {
  place = await sqliteStore.empty();
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as { port: number };
  const heddle = run(["serve", "--port", String(port), "--data", place.dataDir, "--no-open"]);
  expect((await heddle.exited).code).toBe(1);
  expect(heddle.stderr).toContain(`Port ${port} on 127.0.0.1 is already in use`);
  expect(heddle.stderr).toContain("--port");
  expect(heddle.stderr).not.toMatch(/\n\s+at /);
  expect(existsSync(join(place.dataDir, "gateway.json"))).toBe(false);
  expect(await serve().ready()).toMatchObject({ ready: true });
});

test("[WIRE133] a host that is not this machine's is a clear error too", async () => {
  place = await sqliteStore.empty();
  const heddle = run(["serve", "--host", "192.0.2.1", "--port", "0", "--data", place.dataDir, "--no-open"]);
  expect((await heddle.exited).code).toBe(1);
  expect(heddle.stderr).toContain("192.0.2.1");
});

test("[WIRE137] without --port it is 4170", async () => {
  place = await sqliteStore.empty();
  const heddle = run(["serve", "--json", "--data", place.dataDir]);
  // Somebody may have that port; then the refusal names it.
  const told = await Promise.race([
    heddle.ready().then(({ port }) => String(port)),
    heddle.exited.then(() => heddle.stderr),
  ]);
  expect(told).toContain("4170");
});

test("[WIRE137] a port that is none is refused as a mistake on the command line", async () => {
  place = await sqliteStore.empty();
  for (const port of ["-1", "65536", "http", "1.5", ""]) {
    const heddle = run(["serve", "--port", port, "--data", place.dataDir]);
    expect({ port, code: (await heddle.exited).code }).toEqual({ port, code: 2 });
  }
  expect(existsSync(join(place.dataDir, "heddle.db"))).toBe(false);
});

test("[WIRE138] without --data it is $XDG_DATA_HOME/heddle, readable by its owner only", async () => {
  place = await sqliteStore.empty();
  const data = temporaryDirectory();
  onTestFinished(() => rmSync(data, { recursive: true, force: true }));
  const heddle = run(["serve", "--json", "--port", "0"], { XDG_DATA_HOME: data });
  await heddle.ready();
  expect(JSON.parse(readFileSync(join(data, "heddle", "gateway.json"), "utf8")).pid).toBe(heddle.pid);
  expect((statSync(join(data, "heddle")).mode & 0o777).toString(8)).toBe("700");
});

test("[WIRE135] an address that a killed gateway left behind misleads nobody", async () => {
  place = await sqliteStore.empty();
  const stale = { url: "http://127.0.0.1:1", token: "stale", pid: 999_999 };
  writeFileSync(join(place.dataDir, "gateway.json"), JSON.stringify(stale));
  const quiet = run(["serve", "--stdio", "--data", place.dataDir]);
  await quiet.call("ping");
  expect(existsSync(join(place.dataDir, "gateway.json"))).toBe(false);
  const second = serve();
  expect((await second.exited).code).toBe(1);
  expect(second.stderr).not.toContain("999999");
});

test("[WIRE136] several gateways on different data run side by side", async () => {
  place = await sqliteStore.empty();
  const [one, two] = [serve(), run(["serve", "--json", "--port", "0", "--data", join(place.dataDir, "two")])];
  const [first, second] = [await one.ready(), await two.ready()];
  expect(first.token).not.toBe(second.token);
  expect(await upgrade(`${first.url}/rpc`, { authorization: `Bearer ${second.token}` })).toBe(401);
});
