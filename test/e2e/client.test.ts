import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { CallError, Client, connect, NoAnswerError, stdioTransport } from "../../src/client/node.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { holdStore } from "../support/hold-store.js";
import { CuttableProxy, postCall } from "../support/http.js";
import { onEachStore, sqliteStore } from "../support/stores.js";

onEachStore("client", (kind) => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway(kind);
  });
  afterAll(() => gateway?.stop());

  test("[CONN1] a call answers its typed result, a refusal is an error with code, kind and data", async () => {
    const client = gateway.client();
    const { folder } = await client.call("thread/folder/create", {
      workspace_id: gateway.home,
      name: "typed",
    });
    expect(folder.name).toBe("typed");
    await client.call("thread/agents_doc/save", { workspace_id: gateway.home, content: "x" });
    const params = { workspace_id: gateway.home, content: "y", expected_version: 7 };
    const error = await client.call("thread/agents_doc/save", params).catch((caught) => caught);
    expect(error).toBeInstanceOf(CallError);
    expect(error).toMatchObject({
      name: "CallError",
      code: -32600,
      kind: "version_conflict",
      retryable: false,
      data: { kind: "version_conflict", expected_version: 7, actual_version: 1 },
    });
    expect(error.message).toMatch(/7.*1/);
  });

  test("[CONN1] a thousand calls at once are each answered with their own result", async () => {
    const client = gateway.client();
    const { workspace } = await client.call("workspace/create", { name: "many" });
    const calls = Array.from({ length: 1_000 }, (_, i) =>
      i % 10 === 0
        ? client
            .call("thread/folder/create", { workspace_id: workspace.id, name: `${i}` })
            .then((r) => r.folder.name)
        : client
            .call("workspace/get", { workspace_id: i % 2 ? workspace.id : gateway.home })
            .then((r) => r.workspace.id),
    );
    expect(await Promise.all(calls)).toEqual(
      calls.map((_, i) => (i % 10 === 0 ? `${i}` : i % 2 ? workspace.id : gateway.home)),
    );
  });

  test("[CONN2] its name stands on what it changes, on every connection it makes", async () => {
    const proxy = await CuttableProxy.before(gateway.url);
    const client = connect(proxy.url, { token: gateway.token, name: "somebody" });
    onTestFinished(async () => {
      client.close();
      await proxy.close();
    });
    const { workspace } = await client.call("workspace/create", { name: "named" });
    const save = (content: string) =>
      client.call("thread/agents_doc/save", { workspace_id: workspace.id, content });
    expect((await save("1")).doc.updated_by).toBe("somebody");
    proxy.open = false;
    proxy.cut();
    await expect.poll(() => client.state, { timeout: 10_000 }).toBe("connecting");
    proxy.open = true;
    expect((await save("2")).doc.updated_by).toBe("somebody");
    expect(proxy.accepted).toBeGreaterThan(1);
  });

  test("[CONN20] a call under way when the connection is cut fails with connection_lost, carried out or not", async () => {
    const proxy = await CuttableProxy.before(gateway.url);
    const client = connect(proxy.url, { token: gateway.token });
    onTestFinished(async () => {
      client.close();
      await proxy.close();
    });
    const { workspace } = await client.call("workspace/create", { name: "cut" });
    const workspace_id = workspace.id;
    const release = await holdStore(gateway.place);
    onTestFinished(release);
    const lost = client
      .call("thread/folder/create", { workspace_id, name: "carried out" })
      .catch((error) => error);
    await client.call("ping", {});
    proxy.open = false;
    proxy.cut();
    await expect.poll(() => client.state, { timeout: 10_000 }).toBe("connecting");
    proxy.open = true;
    const waiting = client.call("thread/tree", { workspace_id });
    expect(await lost).toBeInstanceOf(NoAnswerError);
    expect((await lost).kind).toBe("connection_lost");
    await release();
    await waiting;
    const names = async () =>
      (await client.call("thread/tree", { workspace_id })).folders.map(({ name }) => name);
    await expect.poll(names, { timeout: 10_000 }).toEqual(["carried out"]);
  });

  test("[CONN21] a cancelled call is forgotten here, and the connection goes on", async () => {
    const client = gateway.client();
    const { workspace } = await client.call("workspace/create", { name: "cancel" });
    const release = await holdStore(gateway.place);
    onTestFinished(release);
    const controller = new AbortController();
    const params = { workspace_id: workspace.id, name: "f" };
    const call = client
      .call("thread/folder/create", params, { signal: controller.signal })
      .catch((error) => error.kind);
    const late = client.call("thread/folder/create", params, { timeoutMs: 50 }).catch((error) => error.kind);
    controller.abort();
    expect(await call).toBe("cancelled");
    expect(await late).toBe("timeout");
    await release();
    expect((await client.call("ping", {})).server.name).toBe("heddle");
  });
});

test("[CONN3] the same client works over stdio", async () => {
  const place = await sqliteStore.fresh();
  const command = resolve(process.env.HEDDLE_TEST_COMMAND ?? "dist/bin/heddle.js");
  const child = spawn(process.execPath, [command, "serve", "--stdio", "--data", place.dataDir], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const exited = new Promise((done) => child.on("exit", done));
  const client = new Client({
    open: stdioTransport(child.stdout, child.stdin),
    name: "pipe",
    reconnect: false,
  });
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await exited;
    await place.remove();
  });
  const heard: number[] = [];
  client.on("thread/agents_doc/changed", ({ seq = 0 }) => heard.push(seq));
  const workspace_id = (await client.call("workspace/list", {})).data[0]?.id as string;
  const { doc } = await client.call("thread/agents_doc/save", { workspace_id, content: "over\nstdio" });
  expect(doc).toMatchObject({ content: "over\nstdio", updated_by: "pipe" });
  await expect.poll(() => heard, { timeout: 10_000 }).toEqual([1]);
  client.close();
  expect(await exited).toBe(0);
});

test("[CONN22] with a wrong token, or nobody there, a call says so when its time is up", async () => {
  const gateway = await startGateway(sqliteStore);
  const wrong = connect(gateway.url, { token: "wrong", timeoutMs: 500 });
  const nobody = connect("http://127.0.0.1:9", { token: "any", timeoutMs: 500 });
  onTestFinished(async () => {
    wrong.close();
    nobody.close();
    await gateway.stop();
  });
  await expect(wrong.call("ping", {})).rejects.toThrow(/401/);
  await expect(nobody.call("ping", {})).rejects.toThrow(/ECONNREFUSED/);
  const once = connect(gateway.url, { token: "wrong", reconnect: false });
  await expect(once.call("ping", {})).rejects.toMatchObject({
    kind: "connection_lost",
    message: expect.stringContaining("401"),
  });
});

test("[CONN10] one that was turned away because the gateway was full gets in when there is room", async () => {
  const gateway = await startGateway(sqliteStore, { limits: { connections: 2 } });
  onTestFinished(() => gateway.stop());
  const other = await gateway.wire();
  const client = gateway.client();
  const answer = client.call("ping", {});
  await expect.poll(() => client.state, { timeout: 10_000 }).toBe("connecting");
  other.close();
  expect((await answer).server.name).toBe("heddle");
  expect((await postCall(gateway, "ping")).error).toBeUndefined();
});
