import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { startApp } from "../../src/app/index.js";
import { type Client, connect } from "../../src/client/node.js";
import { startGateway, type TestGateway } from "../support/gateway.js";
import { CuttableProxy, postCall, saveOften } from "../support/http.js";
import { onEitherStore, sqliteStore } from "../support/stores.js";

/** A client with all that it hears of the tree, and how often it was told to read anew. */
function listening(url: string, token: string) {
  const client = connect(url, { token, name: "listener" });
  const heard: number[] = [];
  const resynced: string[] = [];
  for (const kind of ["thread/tree/changed", "thread/agents_doc/changed", "thread/changed"] as const) {
    client.on(kind, ({ seq = 0 }) => heard.push(seq));
  }
  client.onResync((workspace_id) => resynced.push(workspace_id));
  return { client, heard, resynced };
}

const upTo = (last: number) => Array.from({ length: last }, (_, i) => i + 1);

/** The same numbers from 0 to 1 for the same seed. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

onEitherStore("resume", (kind) => {
  let gateway: TestGateway;
  let proxy: CuttableProxy;
  beforeEach(async () => {
    gateway = await startGateway(kind);
    proxy = await CuttableProxy.before(gateway.url);
  });
  afterEach(async () => {
    await proxy?.close();
    await gateway?.stop();
  });
  const opened = async (client: Client) => expect.poll(() => client.state, { timeout: 10_000 }).toBe("open");

  for (const seed of [1, 2, 3]) {
    test(`[CONN30] cut off again and again while 300 changes are made, it hears each once and in order (seed ${seed})`, async () => {
      const random = seeded(seed);
      const { home: workspace_id } = gateway;
      const { client, heard, resynced } = listening(proxy.url, gateway.token);
      onTestFinished(() => client.close());
      expect((await client.call("thread/tree", { workspace_id })).seq).toBe(0);
      const writer = await gateway.wire();
      for (let i = 0; i < 300; i++) {
        // Large ones too, so that some cuts go through the middle of a message.
        if (i % 10 === 0) {
          const content = `${i} ${"x".repeat(60_000)}`;
          await writer.result("thread/agents_doc/save", { workspace_id, content });
        } else await writer.result("thread/folder/create", { workspace_id, name: `f${i}` });
        if (random() < 0.1) proxy.cut();
        if (random() < 0.05) await opened(client);
      }
      const { seq } = await writer.result("thread/tree", { workspace_id });
      expect(seq).toBe(330);
      await expect.poll(() => heard.length, { timeout: 20_000 }).toBe(seq);
      expect(heard).toEqual(upTo(seq));
      expect(resynced).toEqual([]);
      expect(proxy.accepted).toBeGreaterThan(5);
      // Nothing comes late.
      await expect
        .poll(() => client.call("ping", {}).catch(() => undefined), { timeout: 10_000 })
        .toBeDefined();
      expect(heard).toHaveLength(seq);
    });
  }

  test("[CONN31] what was missed for good is told as a resync, and the client goes on from there", async () => {
    const { home: workspace_id } = gateway;
    const { client, heard, resynced } = listening(proxy.url, gateway.token);
    onTestFinished(() => client.close());
    await client.call("thread/start", { workspace_id });
    await expect.poll(() => heard, { timeout: 10_000 }).toEqual([1, 2]);
    proxy.open = false;
    proxy.cut();
    await saveOften(gateway, workspace_id);
    const { seq } = (await postCall(gateway, "thread/tree", { workspace_id })).result;
    proxy.open = true;
    await expect.poll(() => resynced, { timeout: 10_000 }).toEqual([workspace_id]);
    await postCall(gateway, "thread/folder/create", { workspace_id, name: "after" });
    await expect.poll(() => heard, { timeout: 10_000 }).toEqual([1, 2, seq + 1]);
    proxy.cut();
    await postCall(gateway, "thread/folder/create", { workspace_id, name: "after" });
    await expect.poll(() => heard, { timeout: 10_000 }).toEqual([1, 2, seq + 1, seq + 2]);
    expect(resynced).toHaveLength(1);
  });

  test("[CONN32] several workspaces are resumed, and one that was deleted meanwhile is told as a resync", async () => {
    const { client, heard, resynced } = listening(proxy.url, gateway.token);
    onTestFinished(() => client.close());
    const make = async () => (await client.call("workspace/create", { name: "w" })).workspace.id;
    const [a, b] = [await make(), await make()];
    for (const workspace_id of [a, b]) await client.call("thread/tree", { workspace_id });
    proxy.open = false;
    proxy.cut();
    await postCall(gateway, "thread/folder/create", { workspace_id: a, name: "missed" });
    await postCall(gateway, "workspace/delete", { workspace_id: b });
    proxy.open = true;
    await expect
      .poll(() => ({ heard, resynced }), { timeout: 10_000 })
      .toEqual({ heard: [1], resynced: [b] });
  });
});

test("[CONN33] it comes back after the gateway was restarted on the same port, and misses nothing", async () => {
  const place = await sqliteStore.fresh();
  const start = async (port: number) => {
    const app = await startApp({ dataDir: place.dataDir, logLevel: "silent" });
    return { app, ...(await app.listen({ host: "127.0.0.1", port })) };
  };
  let gateway = await start(0);
  const { client, heard, resynced } = listening(gateway.url, gateway.token);
  onTestFinished(async () => {
    client.close();
    await gateway.app.stop();
    await place.remove();
  });
  const workspace_id = (await client.call("workspace/list", {})).data[0]?.id as string;
  await client.call("thread/tree", { workspace_id });
  await client.call("thread/folder/create", { workspace_id, name: "before" });
  const { port, token } = gateway;
  await gateway.app.stop();
  await expect.poll(() => client.state, { timeout: 10_000 }).toBe("connecting");
  const waiting = client.call("thread/agents_doc/save", { workspace_id, content: "asked while it was down" });
  // Meanwhile, on another port: the client can't see it, and must hear of it later.
  gateway = await start(0);
  await postCall(gateway, "thread/folder/create", { workspace_id, name: "meanwhile" });
  await gateway.app.stop();
  gateway = await start(port);
  expect(gateway.token).toBe(token);
  expect((await waiting).doc).toMatchObject({ version: 1, updated_by: "listener" });
  await expect.poll(() => heard, { timeout: 10_000 }).toEqual([1, 2, 3, 4]);
  expect(resynced).toEqual([]);
});
