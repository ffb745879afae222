import { expect, test } from "vitest";
import { z } from "zod";
import { methods } from "../../src/protocol/index.js";
import { defineTool } from "../../src/tools/index.js";
import { agentAt, apis, type RunScene, runStage } from "../support/runs.js";
import { Wire } from "../support/wire.js";

const called: string[] = [];
const probe = defineTool({
  name: "probe_touch",
  description: "Remembers a word.",
  parameters: z.object({ word: z.string() }),
  capabilities: ["probe.touch"],
  safeToRepeat: true,
  run: ({ word }, { thread_id }) => {
    called.push(`${thread_id}:${word}`);
    return { status: "completed", output: `touched ${word}` };
  },
});

const stage = runStage(undefined, {
  config: (url) => ({
    agents: [
      agentAt(url, apis[0]),
      agentAt(url, apis[0], { agentId: "limited", toolAllowlist: ["files_*"] }),
      agentAt(url, apis[0], { agentId: "asking", toolApprovals: { ask: ["probe_*"] } }),
      agentAt(url, apis[0], { agentId: "barred", toolApprovals: { deny: ["probe_*"] } }),
    ],
  }),
  options: { tools: [probe] },
});

const ALLOWED = new Set(["initialize", "ping", "tool/list", "tool/call"]);
const REFUSED = Object.keys(methods).filter((name) => !ALLOWED.has(name));

interface Bound {
  readonly scene: RunScene;
  readonly workspace_id: string;
  readonly thread_id: string;
  readonly token: string;
  revoke(): void;
}

async function bound(agent_id?: string): Promise<Bound> {
  const scene = await stage.scene();
  const { workspace_id } = scene;
  const { thread } = await scene.wire.result("thread/start", { workspace_id, ...(agent_id && { agent_id }) });
  const { access } = stage.gateway().app.gateway;
  const token = access.issue({ workspace_id, thread_id: thread.id });
  return { scene, workspace_id, thread_id: thread.id, token, revoke: () => access.revoke(token) };
}

async function post(token: string, body: unknown) {
  const response = await fetch(`${stage.gateway().url}/rpc`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

const request = (method: string, params: object = {}, id = 1) => ({ jsonrpc: "2.0", id, method, params });

const notification = (method: string, params: object) => ({ jsonrpc: "2.0", method, params });

const touch = (word: string, more: object = {}) =>
  request("tool/call", { name: "probe_touch", arguments: { word }, ...more });

test("[ACC2] it may greet, list tools and call them, over HTTP and WebSocket", async () => {
  const { token, workspace_id, thread_id } = await bound();
  const wire = await Wire.open(stage.gateway().url, token);
  await wire.result("initialize", { client: "agent" });
  await wire.result("ping", {});
  expect(
    (await wire.result("tool/list", { workspace_id, thread_id })).data.map(({ name }) => name),
  ).toContain("probe_touch");
  const params = { workspace_id, thread_id, name: "probe_touch", arguments: { word: "w" } };
  expect(await wire.result("tool/call", params)).toMatchObject({ status: "completed", output: "touched w" });
  const answer = await post(token, touch("h", { workspace_id, thread_id }));
  expect(answer).toMatchObject({ status: 200, body: { result: { output: "touched h" } } });
  wire.close();
});

test("[ACC2] every other method is not allowed, whatever its params, over HTTP and WebSocket", async () => {
  const { token, workspace_id, thread_id } = await bound();
  const wire = await Wire.open(stage.gateway().url, token);
  expect(REFUSED).toContain("run/start");
  expect(REFUSED).toContain("run/approve");
  for (const method of REFUSED) {
    for (const params of [{}, { workspace_id, thread_id }]) {
      expect(await wire.error(method, params), method).toMatchObject({
        code: -32003,
        data: { kind: "not_allowed", method },
      });
    }
    expect((await post(token, request(method))).body.error, method).toMatchObject({ code: -32003 });
  }
  wire.close();
});

test("[ACC2] a batch and a notification get no further than a request", async () => {
  const { token, scene, workspace_id, thread_id } = await bound();
  const { body } = await post(token, [
    request("ping", {}, 1),
    request("thread/delete", { workspace_id, thread_id }, 2),
    notification("thread/clear", { thread_id }),
    { ...touch("batch"), id: 3 },
    request("thread/list", { workspace_id }, 4),
  ]);
  expect(body.map(({ id, error }: { id: number; error?: { code: number } }) => [id, error?.code])).toEqual([
    [1, undefined],
    [2, -32003],
    [3, undefined],
    [4, -32003],
  ]);
  expect(await post(token, notification("thread/delete", { thread_id }))).toMatchObject({
    status: 204,
  });
  expect((await scene.wire.result("thread/get", { thread_id })).thread.id).toBe(thread_id);
});

test("[ACC3] its own workspace and thread are filled in where they are left out", async () => {
  const { token, thread_id } = await bound("limited");
  for (const params of [{}, { thread_id: null, workspace_id: null }, { thread_id }]) {
    const { body } = await post(token, request("tool/list", params));
    const offered = body.result.data.filter((tool: { offered: boolean }) => tool.offered);
    expect(offered.map(({ name }: { name: string }) => name)).not.toContain("probe_touch");
  }
  const { body } = await post(token, { jsonrpc: "2.0", id: 1, method: "tool/list" });
  expect(body.result.data.length).toBeGreaterThan(0);
});

test("[ACC3] another thread or workspace is not allowed, nor is a trick with params", async () => {
  const [own, other] = [await bound(), await bound()];
  const before = called.length;
  for (const named of [
    { thread_id: other.thread_id },
    { workspace_id: other.workspace_id },
    { workspace_id: other.workspace_id, thread_id: other.thread_id },
    { thread_id: "" },
    { thread_id: [own.thread_id] },
    { workspace_id: 0 },
  ]) {
    expect((await post(own.token, touch("x", named))).body.error, JSON.stringify(named)).toMatchObject({
      code: -32003,
      data: { kind: "not_allowed" },
    });
  }
  const positional = { jsonrpc: "2.0", id: 1, method: "tool/call", params: [own.workspace_id] };
  expect((await post(own.token, positional)).body.error.code).toBe(-32602);
  expect(called.length).toBe(before);
  await post(own.token, touch("mine"));
  expect(called.at(-1)).toBe(`${own.thread_id}:mine`);
});

test("[ACC4] its connection is told of nothing that happens", async () => {
  const { token, scene, workspace_id, thread_id } = await bound();
  const wire = await Wire.open(stage.gateway().url, token);
  await wire.result("tool/list", { workspace_id, thread_id });
  await scene.wire.result("thread/update", { thread_id, title: "Another" });
  expect(await wire.settled()).toEqual([]);
  wire.close();
});

test("[ACC5] no other address takes it", async () => {
  const { token, thread_id } = await bound();
  const headers = { Authorization: `Bearer ${token}` };
  for (const path of ["/metrics", `/threads/${thread_id}/assets/a.png`, "/nowhere", "/v1/models"]) {
    const response = await fetch(`${stage.gateway().url}${path}`, { headers });
    expect(response.status, path).toBe(403);
    expect(await response.json()).toMatchObject({ kind: "not_allowed" });
  }
  const page = await fetch(`${stage.gateway().url}/`, { headers });
  expect(page.headers.get("set-cookie")).toBeNull();
});

test("[ACC6] once revoked it lets nobody in, and its connections end", async () => {
  const { token, thread_id, revoke } = await bound();
  const wire = await Wire.open(stage.gateway().url, token);
  await wire.result("ping", {});
  revoke();
  expect(await wire.closed()).toBe(1008);
  expect((await post(token, touch("late"))).status).toBe(401);
  await expect(Wire.open(stage.gateway().url, token)).rejects.toThrow("401");
  expect(called).not.toContain(`${thread_id}:late`);
});

test("[ACC6] a request that was still being sent when it was revoked is not carried out", async () => {
  const { token, thread_id, revoke } = await bound();
  const text = JSON.stringify(touch("slow"));
  let sendRest = () => {};
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const bytes = new TextEncoder().encode(text);
      controller.enqueue(bytes.subarray(0, 10));
      sendRest = () => {
        controller.enqueue(bytes.subarray(10));
        controller.close();
      };
    },
  });
  const answering = fetch(`${stage.gateway().url}/rpc`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
    body,
    duplex: "half",
  } as RequestInit);
  await new Promise((resolve) => setTimeout(resolve, 200));
  revoke();
  sendRest();
  const response = await answering;
  expect(await response.json()).toMatchObject({ error: { code: -32003 } });
  expect(called).not.toContain(`${thread_id}:slow`);
});

test("[ACC9] what the thread's agent may not use is refused", async () => {
  const { token, thread_id } = await bound("limited");
  const { body } = await post(token, touch("scope"));
  expect(body.result).toMatchObject({ status: "failed", output: expect.stringContaining("toolAllowlist") });
  expect(called).not.toContain(`${thread_id}:scope`);
});

test("[ACC9] what somebody has to allow first is refused, though a person may call it", async () => {
  const { token, scene, workspace_id, thread_id } = await bound("asking");
  const { body } = await post(token, touch("asked"));
  expect(body.result).toMatchObject({ status: "failed", output: expect.stringContaining("allow") });
  expect(called).not.toContain(`${thread_id}:asked`);
  const params = { workspace_id, thread_id, name: "probe_touch", arguments: { word: "asked" } };
  expect(await scene.wire.result("tool/call", params)).toMatchObject({ status: "completed" });
  const barred = await bound("barred");
  expect((await post(barred.token, touch("denied"))).body.result.status).toBe("failed");
  expect(called).not.toContain(`${barred.thread_id}:denied`);
});

test("[ACC1] no token outlives its gateway", async () => {
  const { token } = await bound();
  await stage.restart();
  expect((await post(token, touch("later"))).status).toBe(401);
});
