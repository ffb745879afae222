import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { type McpHttpGiven, startMcpHttp, startModernMcpHttp } from "../support/mcp-http.js";
import type { McpScript } from "../support/mcp-script.js";
import { McpStage } from "../support/mcp-stage.js";

async function served(script: McpScript, given: McpHttpGiven = {}) {
  const server = await startMcpHttp(script, given);
  onTestFinished(() => server.stop());
  return server;
}

test("[MCP7] a server at an address is used like a program; its headers go with every request", async () => {
  const server = await served({
    tools: [{ name: "echo" }, { name: "add", does: "add" }],
    many: 30,
    pageSize: 10,
  });
  const stage = new McpStage();
  stage.servers.set({
    web: { url: server.url, headers: { authorization: "Bearer key", "x-team": "search" } },
  });
  expect(await stage.until("web", "ready")).toMatchObject({ tools: 32 });
  expect(await stage.call("mcp_web_echo", { text: "hi" })).toMatchObject({ output: 'echo: {"text":"hi"}' });
  await stage.call("mcp_web_add");
  await stage.until("web", ({ tools }) => tools === 33);
  expect(server.seen.length).toBeGreaterThan(5);
  for (const headers of server.seen)
    expect(headers).toMatchObject({ authorization: "Bearer key", "x-team": "search" });
});

test("[MCP7] what can't be used says why: no server, no entry, no protocol", async () => {
  const locked = await served({}, { instead: (_, response) => Boolean(response.writeHead(401).end("no")) });
  const broken = await served({}, { instead: (_, response) => Boolean(response.writeHead(500).end("oh")) });
  const page = await served(
    {},
    {
      instead: (_, response) =>
        Boolean(response.writeHead(200, { "content-type": "text/html" }).end("<html>")),
    },
  );
  const silent = await served({}, { instead: () => true });
  const stage = new McpStage({ connectMs: 500, backoffMs: 60_000, longestBackoffMs: 60_000 });
  stage.servers.set({
    away: { url: "http://127.0.0.1:9/mcp" },
    locked: { url: locked.url },
    broken: { url: broken.url },
    page: { url: page.url },
    silent: { url: silent.url },
  });
  const problem = async (name: string) => (await stage.until(name, "failed")).problem;
  expect(await problem("away")).toMatch(/can't be reached/);
  expect(await problem("locked")).toBe(
    "does not let us in (HTTP 401): look at its headers in the configuration",
  );
  expect(await problem("broken")).toBe("answered HTTP 500");
  expect(await problem("page")).toBe("can't be talked to: it does not speak the protocol");
  expect(await problem("silent")).toMatch(/in time|within 0.5 s/);
});

test("[MCP8] a redirect to another origin is not followed, and the headers never get there", async () => {
  const other = await served({ tools: [{ name: "echo" }] });
  const first = await served(
    {},
    {
      instead: (_, response) => Boolean(response.writeHead(307, { location: other.url }).end()),
    },
  );
  const stage = new McpStage({ backoffMs: 60_000, longestBackoffMs: 60_000 });
  stage.servers.set({ web: { url: first.url, headers: { authorization: "Bearer key" } } });
  expect((await stage.until("web", "failed")).problem).toContain("points to another address (HTTP 307)");
  expect(other.seen).toEqual([]);
});

test("[MCP9] a server that goes away fails the calls under way at once, and is connected again when it is back", async () => {
  const script: McpScript = { tools: [{ name: "hang", does: "hang" }, { name: "echo" }] };
  const server = await startMcpHttp(script);
  const stage = new McpStage({ longestBackoffMs: 200 });
  stage.servers.set({ web: { url: server.url } });
  await stage.until("web", "ready");
  const hanging = stage.call("mcp_web_hang");
  await sleep(200);
  const began = performance.now();
  await server.stop();
  expect(await hanging).toMatchObject({ status: "failed" });
  expect(performance.now() - began).toBeLessThan(5_000);
  await stage.until("web", "failed");
  expect((await stage.call("mcp_web_echo")).output).toContain("can't be reached");
  await served(script, { port: server.port });
  await stage.until("web", "ready");
  expect(await stage.call("mcp_web_echo")).toMatchObject({ output: "echo: {}" });
});

test("[MCP9] a server that has forgotten the session is connected again", async () => {
  const script: McpScript = { tools: [{ name: "echo" }] };
  const server = await startMcpHttp(script);
  const stage = new McpStage();
  stage.servers.set({ web: { url: server.url } });
  await stage.until("web", "ready");
  await server.stop();
  await served(script, { port: server.port });
  const outcomes = [];
  for (let call = 0; call < 3; call++) outcomes.push((await stage.call("mcp_web_echo")).status);
  expect(outcomes[2]).toBe("completed");
});

test("[MCP31] an answer over HTTP is bounded too", async () => {
  const server = await served({ tools: [{ name: "huge", does: "huge" }, { name: "echo" }] });
  const stage = new McpStage();
  stage.servers.set({ web: { url: server.url } });
  await stage.until("web", "ready");
  expect(await stage.call("mcp_web_huge", { bytes: 3_000_000 })).toMatchObject({ truncated: true });
  expect(await stage.call("mcp_web_huge", { bytes: 20_000_000 })).toMatchObject({ status: "failed" });
  expect(await stage.call("mcp_web_echo")).toMatchObject({ status: "completed" });
});

test("[MCP6] a server at an address that knows only the newer handshake is connected all the same", async () => {
  const server = await startModernMcpHttp({ tools: [{ name: "echo" }] });
  onTestFinished(() => server.stop());
  const stage = new McpStage();
  stage.servers.set({ web: { url: server.url, headers: { "x-key": "value" } } });
  await stage.until("web", "ready");
  expect(await stage.call("mcp_web_echo", { text: "hi" })).toMatchObject({ output: 'echo: {"text":"hi"}' });
  for (const headers of server.seen) expect(headers).toMatchObject({ "x-key": "value" });
});

test("[MCP7] a session is ended when it is not needed any more, and a server that does not answer that is not waited for", async () => {
  const polite = await served({ tools: [{ name: "echo" }] });
  const rude = await served({ tools: [{ name: "echo" }] }, { instead: ({ method }) => method === "DELETE" });
  const stage = new McpStage();
  stage.servers.set({ polite: { url: polite.url }, rude: { url: rude.url } });
  await stage.until("polite", "ready");
  await stage.until("rude", "ready");
  expect(polite.sessions()).toBe(1);
  const began = performance.now();
  await stage.servers.close();
  expect(performance.now() - began).toBeLessThan(8_000);
  expect(polite.sessions()).toBe(0);
});
