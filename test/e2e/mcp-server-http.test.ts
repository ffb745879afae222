import { expect, test } from "vitest";
import { agentAt, apis, runStage } from "../support/runs.js";

const LIMIT = 64 * 1024;
const stage = runStage(undefined, {
  config: (url) => ({ agents: [agentAt(url, apis[0])] }),
  options: { limits: { messageBytes: LIMIT, depth: 16 } },
});
const slow = runStage(undefined, {
  config: (url) => ({ agents: [agentAt(url, apis[0])] }),
  options: { limits: { rate: 0.001, burst: 30 } },
});

const JSON_TYPES = {
  "Content-Type": "application/json",
  Accept: "application/json, text/event-stream",
};

async function post(body: string, { token, path = "/mcp" }: { token?: string; path?: string } = {}) {
  const { url, token: own } = stage.gateway();
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { ...JSON_TYPES, Authorization: `Bearer ${token ?? own}` },
    body,
  });
  return { status: response.status, text: await response.text() };
}

const ask = (method: string, params: object = {}, id: unknown = 1) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

test("[MSV13] what is no message is refused with what is wrong with it", async () => {
  expect(await post("{")).toMatchObject({ status: 400, text: expect.stringContaining("-32700") });
  expect(await post("\xff{}")).toMatchObject({ status: 400 });
  expect(await post("")).toMatchObject({ status: 400 });
  expect((await post(ask("tools/list", { x: "y".repeat(LIMIT) }))).status).toBe(413);
  const deep = `${'{"a":'.repeat(40)}1${"}".repeat(40)}`;
  expect(await post(ask("tools/list", JSON.parse(deep)))).toMatchObject({
    status: 400,
    text: expect.stringContaining("request.too_deep"),
  });
  for (const body of ["[]", "7", '"x"', "null", '{"jsonrpc":"1.0","id":1,"method":"tools/list"}']) {
    expect((await post(body)).status, body).toBe(400);
  }
  expect(await post(ask("resources/list"))).toMatchObject({ text: expect.stringContaining("-32601") });
});

test("[MSV14] there are no sessions: only POST is answered", async () => {
  const { url, token } = stage.gateway();
  const headers = { ...JSON_TYPES, Authorization: `Bearer ${token}` };
  for (const method of ["GET", "DELETE", "PUT"]) {
    const response = await fetch(`${url}/mcp`, { method, headers });
    expect(response.status, method).toBe(405);
  }
  const init = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } };
  const response = await fetch(`${url}/mcp`, { method: "POST", headers, body: ask("initialize", init) });
  expect(response.headers.get("mcp-session-id")).toBeNull();
  // A client that has been told nothing yet is answered too: nothing is kept between requests.
  expect((await post(ask("tools/list"))).text).toContain("agents_message");
});

test("[MSV16] without the gateway's token nobody is answered, and a foreign page neither", async () => {
  expect((await post(ask("tools/list"), { token: "wrong" })).status).toBe(401);
  const { url, token } = stage.gateway();
  const response = await fetch(`${url}/mcp`, {
    method: "POST",
    headers: { ...JSON_TYPES, Authorization: `Bearer ${token}`, Origin: "https://evil.example" },
    body: ask("tools/list"),
  });
  expect(response.status).toBe(403);
});

test("[MSV16] too many requests are refused with when to try again", async () => {
  const { url, token } = slow.gateway();
  const once = () =>
    fetch(`${url}/mcp`, {
      method: "POST",
      headers: { ...JSON_TYPES, Authorization: `Bearer ${token}` },
      body: ask("tools/list"),
    });
  let response = await once();
  for (let times = 0; response.status === 200 && times < 60; times++) {
    await response.text();
    response = await once();
  }
  expect(response.status).toBe(429);
  expect(response.headers.get("retry-after")).toBe("1");
  expect(await response.json()).toMatchObject({ error: { data: { kind: "overloaded" } } });
});
