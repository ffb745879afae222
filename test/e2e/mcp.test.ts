import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { pidsIn, runs } from "../atsf/processes.js";
import { startGateway } from "../support/gateway.js";
import { scripted } from "../support/mcp-stage.js";
import { agentAt, apis, calls, type RunScene, runStage } from "../support/runs.js";
import { sqliteStore, temporaryDirectory } from "../support/stores.js";

const everything = resolve("node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const filesystem = resolve("node_modules/@modelcontextprotocol/server-filesystem/dist/index.js");
const box = temporaryDirectory();
let port = 0;
let web: ChildProcess;

beforeAll(async () => {
  port = await freePort();
  web = spawn(process.execPath, [everything, "streamableHttp"], {
    env: { PATH: process.env.PATH, PORT: String(port) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  await new Promise<void>((ready) =>
    web.stderr?.on("data", (text) => String(text).includes("listening") && ready()),
  );
});
afterAll(() => void web.kill("SIGKILL"));

const stage = runStage(sqliteStore, {
  config: (url) => ({
    agents: [
      agentAt(url, apis[0], { toolApprovals: { allow: ["mcp_*"] } }),
      agentAt(url, apis[0], { agentId: "asks" }),
      agentAt(url, apis[0], { agentId: "incapable", capabilityDenylist: ["mcp.web", "mcp.here"] }),
      agentAt(url, apis[0], { agentId: "others", capabilityAllowlist: ["files.*"] }),
      agentAt(url, apis[0], {
        agentId: "three",
        toolAllowlist: ["mcp_many_tool_0001", "mcp_many_tool_0250", "mcp_many_tool_0497"],
        toolApprovals: { allow: ["mcp_*"] },
      }),
    ],
    mcpServers: {
      here: { command: process.execPath, args: [everything, "stdio"] },
      web: { url: `http://127.0.0.1:${port}/mcp` },
      box: { command: process.execPath, args: [filesystem, box] },
      many: scripted({ many: 499, tools: [{ name: "system_x" }] }),
      dead: { command: "/nonexistent/program" },
      off: { command: "/nonexistent/program", enabled: false },
      unplugged: { command: process.execPath, args: [everything, "stdio"] },
    },
    plugins: { "mcp-unplugged": { enabled: false } },
  }),
});

interface Listed {
  readonly name: string;
  readonly available?: boolean;
}

async function listed(scene: RunScene, more: { thread_id?: string } = {}): Promise<Listed[]> {
  const { workspace_id } = scene;
  return (await scene.wire.result("tool/list", { workspace_id, ...more })).data;
}

/** Waits until all servers that can be there have listed their tools. */
async function ready(): Promise<RunScene> {
  const scene = await stage.scene();
  const wanted = ["mcp_here_echo", "mcp_web_echo", "mcp_box_read_text_file", "mcp_many_tool_0497"];
  for (let look = 0; look < 1_500; look++) {
    const names = new Set((await listed(scene)).map(({ name }) => name));
    if (wanted.every((name) => names.has(name))) return scene;
    await sleep(20);
  }
  throw new Error("waited in vain for the servers");
}

/** What the model was told of its tool call. */
async function told(scene: RunScene): Promise<string> {
  const { messages } = JSON.parse(await scene.received(1));
  return messages.findLast(({ role }: { role: string }) => role === "tool").content;
}

describe("[MCP70] a run uses a real server", () => {
  for (const server of ["here", "web"]) {
    test(`[MCP70] ${server === "here" ? "over standard input and output" : "over HTTP"}, within scope`, async () => {
      const scene = await ready();
      const { id } = await scene.start({ agent_id: apis[0].id });
      scene.plays(calls(`mcp_${server}_get_sum`, { a: 2, b: 40 }), "It is 42.");
      await scene.answered(id, "Add them.");
      expect(await told(scene)).toContain("42");
      const { tools } = JSON.parse(await scene.received(0));
      const sum = tools.find(
        ({ function: one }: { function: Listed }) => one.name === `mcp_${server}_get_sum`,
      );
      expect(sum.function.parameters).toMatchObject({ type: "object", required: ["a", "b"] });
    });
  }

  test("[MCP70] that writes files", async () => {
    const scene = await ready();
    const { id } = await scene.start({ agent_id: apis[0].id });
    const path = join(box, "note.txt");
    scene.plays(calls("mcp_box_write_file", { path, content: "kept" }), "Done.");
    await scene.answered(id, "Write it down.");
    expect(readFileSync(path, "utf8")).toBe("kept");
    scene.plays(calls("mcp_box_read_text_file", { path: "/etc/passwd" }), "No.");
    scene.model.forget();
    await scene.answered(id, "Read that.");
    expect(await told(scene)).toContain("Access denied");
  });
});

test("[MCP71] a tool that is not marked read-only is called when somebody has allowed it, one that is at once", async () => {
  const scene = await ready();
  const { id } = await scene.start({ agent_id: "asks" });
  const path = join(box, "asked.txt");
  scene.plays(
    calls("mcp_box_list_allowed_directories"),
    calls("mcp_box_write_file", { path, content: "allowed" }, "call_2"),
    "Done.",
  );
  const { run } = await scene.startRun(id, "Write it down.");
  const { approvals } = await scene.changed(run.id, ({ status }) => status === "waiting");
  expect(approvals).toMatchObject([{ name: "mcp_box_write_file" }]);
  expect(existsSync(path)).toBe(false);
  const tool_call_id = approvals?.[0]?.tool_call_id as string;
  await scene.wire.result("run/approve", { run_id: run.id, tool_call_id, decision: "allow" });
  expect((await scene.ended(run.id)).status).toBe("completed");
  expect(readFileSync(path, "utf8")).toBe("allowed");
});

test("[MCP72] an agent without the capability is offered none of a server's tools, and a call is refused", async () => {
  const scene = await ready();
  for (const agent_id of ["incapable", "others"]) {
    const { id } = await scene.start({ agent_id });
    scene.model.forget();
    scene.plays(calls("mcp_web_echo", { message: "hi" }), "I may not.");
    await scene.answered(id, "Try.");
    const { tools = [] } = JSON.parse(await scene.received(0));
    const names: string[] = tools.map(({ function: one }: { function: Listed }) => one.name);
    expect(names.filter((name) => /^mcp_(web|here)_/.test(name))).toEqual([]);
    const refusal = await told(scene);
    expect(refusal).not.toContain("Echo");
    expect(refusal).toContain("mcp_web_echo");
  }
});

test("[MCP23] a tool called system_x is no exception to an agent's scope", async () => {
  const scene = await ready();
  const { id } = await scene.start({ agent_id: "others" });
  scene.plays(calls("mcp_many_system_x"), "No.");
  await scene.answered(id, "Try.");
  expect(await scene.received(0)).not.toContain("system_x");
  expect(await told(scene)).not.toContain("system_x: {}");
});

test("[MCP73] of 500 tools, an agent that is allowed three is sent three", async () => {
  const scene = await ready();
  const { id } = await scene.start({ agent_id: "three" });
  scene.plays(calls("mcp_many_tool_0250", { text: "hi" }), "Done.");
  await scene.answered(id, "Go.");
  const { tools } = JSON.parse(await scene.received(0));
  const names: string[] = tools.map(({ function: one }: { function: Listed }) => one.name);
  expect(names.filter((name) => !name.startsWith("system_")).sort()).toEqual([
    "mcp_many_tool_0001",
    "mcp_many_tool_0250",
    "mcp_many_tool_0497",
  ]);
  expect(await told(scene)).toContain('tool_0250: {"text":"hi"}');
});

test("[MCP74] a server that is off, or whose plugin is, is not there; one that can't be started disturbs nobody", async () => {
  const scene = await ready();
  const names = (await listed(scene)).map(({ name }) => name);
  expect(names.filter((name) => /^mcp_(off|unplugged|dead)_/.test(name))).toEqual([]);
});

test("[MCP76] the list of tools tells of servers, and why one can't be used; a command connects what it needs", async () => {
  const scene = await stage.scene();
  const told = async () =>
    (await scene.wire.result("tool/list", { workspace_id: scene.workspace_id })).servers ?? [];
  await expect
    .poll(async () => Object.fromEntries((await told()).map(({ name, state }) => [name, state])), {
      timeout: 20_000,
    })
    .toMatchObject({ here: "ready", box: "ready", dead: "failed", off: "off" });
  const servers = await told();
  expect(servers.find(({ name }) => name === "dead")?.problem).toContain("can't be started");
  const configFile = join(temporaryDirectory(), "heddle.config.json");
  const mcpServers = { box: { command: process.execPath, args: [filesystem, box] } };
  writeFileSync(configFile, JSON.stringify({ mcpServers }));
  const once = await startGateway(sqliteStore, { configFile, takeUpRuns: false });
  try {
    const wire = await once.wire();
    const { data } = await wire.result("workspace/list", {});
    const params = { workspace_id: data[0]?.id as string, name: "mcp_box_list_allowed_directories" };
    expect(await wire.result("tool/call", params)).toMatchObject({ status: "completed" });
  } finally {
    await once.stop();
  }
});

test("[MCP75] a gateway does not wait for a server when it starts, and leaves none of its processes when it stops", async () => {
  const file = join(temporaryDirectory(), "pids");
  const configFile = join(temporaryDirectory(), "heddle.config.json");
  writeFileSync(
    configFile,
    JSON.stringify({ mcpServers: { one: scripted({}, `family=${file}`, "stubborn", "silent") } }),
  );
  const gateway = await startGateway(sqliteStore, { configFile });
  for (let look = 0; look < 500 && !pids(file).length; look++) await sleep(20);
  const left = pids(file);
  expect(left.map(runs)).toEqual([true, true]);
  await gateway.stop();
  for (let look = 0; look < 100 && left.some(runs); look++) await sleep(20);
  expect(left.filter(runs)).toEqual([]);
});

function pids(file: string): number[] {
  try {
    return pidsIn(file).filter((pid) => pid > 0);
  } catch {
    return [];
  }
}

function freePort(): Promise<number> {
  return new Promise((found) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port: free } = server.address() as { port: number };
      server.close(() => found(free));
    });
  });
}
