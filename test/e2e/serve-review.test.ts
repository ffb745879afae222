import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { CliHome } from "../support/cli.js";
import { startGateway } from "../support/gateway.js";
import { sqliteStore, temporaryDirectory } from "../support/stores.js";

test("[WIRE158] store files are their owner's alone, also in a directory that others may enter", async () => {
  const dataDir = join(temporaryDirectory(), "open");
  mkdirSync(dataDir, { mode: 0o755 });
  const gateway = await startGateway({
    name: "sqlite",
    fresh: async () => ({ store: "sqlite", dataDir, remove: async () => {} }),
  });
  for (const name of ["heddle.db", "heddle.db-wal", "gateway.lock", "token", "gateway.json"]) {
    expect(statSync(join(dataDir, name)).mode & 0o077, name).toBe(0);
  }
  await gateway.stop();
});

test("[WIRE159] whoever has a dead gateway's port is given nothing", async () => {
  const asked: (string | undefined)[] = [];
  const stranger = createServer((request, response) => {
    asked.push(request.headers.authorization);
    response.end();
  });
  stranger.on("upgrade", (request, socket) => {
    asked.push(request.headers.authorization);
    socket.destroy();
  });
  await new Promise<void>((resolve) => stranger.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(stranger.address() as AddressInfo).port}`;
  const home = new CliHome();
  await home.ok("tree");
  const address = { url, token: "secret-token-of-the-dead-gateway", pid: 999_999 };
  writeFileSync(join(home.data, "gateway.json"), JSON.stringify(address), { mode: 0o600 });
  expect(await home.ok("tree")).toContain("Home");
  await home.run(["doctor"]);
  expect(asked).toEqual([]);
  stranger.close();
  await home.remove();
});

test("[WIRE151] a client that reads nothing makes the gateway hold few large answers", async () => {
  const gateway = await startGateway(sqliteStore);
  const wire = await gateway.wire();
  const workspace_id = gateway.home;
  const attributes = { big: "x".repeat(60_000) };
  for (let i = 0; i < 100; i++) {
    const { thread } = await wire.result("thread/start", { workspace_id });
    await wire.result("thread/update", { thread_id: thread.id, attributes });
  }
  const socket = new WebSocket(`${gateway.url.replace("http", "ws")}/rpc`, {
    headers: { Authorization: `Bearer ${gateway.token}` },
  });
  await new Promise((resolve) => socket.once("open", resolve));
  socket.pause();
  const before = external();
  for (let id = 0; id < 64; id++) {
    socket.send(
      JSON.stringify({ jsonrpc: "2.0", id, method: "thread/list", params: { workspace_id, limit: 100 } }),
    );
  }
  for (let i = 0; i < 20; i++) await wire.result("ping", {});
  await new Promise((resolve) => setTimeout(resolve, 300));
  // All 64 would be close to 400 MB; a few make up for what the socket and the queue hold.
  expect(external() - before).toBeLessThan(120 * 1024 * 1024);
  socket.terminate();
  await gateway.stop();
});

function external(): number {
  const status = readFileSync("/proc/self/status", "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) * 1024;
}
