import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readFileSync, realpathSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { describe, expect, onTestFinished, test } from "vitest";
import { COMMAND, ended } from "../support/cli.js";
import { heldTool } from "../support/held-tool.js";
import { jsonOf } from "../support/mcp-client.js";
import { agentAt, apis, runStage } from "../support/runs.js";
import { temporaryDirectory } from "../support/stores.js";

const held = heldTool();
const stage = runStage(undefined, {
  config: (url) => ({
    agents: [
      agentAt(url, apis[0], { agentId: "helper" }),
      agentAt(url, apis[0], { agentId: "limited", toolAllowlist: ["held_*"] }),
    ],
  }),
  options: { tools: [held.tool] },
});

const WORDS = [COMMAND, "mcp"];

interface Given {
  readonly env?: Record<string, string>;
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly mode?: "legacy" | "auto";
}

function environment(more: Record<string, string> = {}): Record<string, string> {
  const home = temporaryDirectory();
  const { PATH = "" } = process.env;
  return { PATH, HOME: home, XDG_DATA_HOME: home, HEDDLE_DETECT: "off", ...more };
}

const ofStage = () => {
  const { url, token } = stage.gateway();
  return { HEDDLE_URL: url, HEDDLE_TOKEN: token };
};

async function client({ env = {}, args = [], cwd, mode = "legacy" }: Given = {}): Promise<Client> {
  const made = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  onTestFinished(() => made.close().catch(() => {}));
  await made.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [...WORDS, ...args],
      env: environment(env),
      stderr: "inherit",
      ...(cwd !== undefined && { cwd }),
    }),
  );
  return made;
}

/** The command without a client: what it writes is looked at line by line. */
function bare(given: Given = {}): { child: ChildProcess; lines: AsyncIterator<string> } {
  const { env, args = [], cwd } = given;
  const child = spawn(process.execPath, [...WORDS, ...args], { env: environment(env), cwd });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  return { child, lines: lines[Symbol.asyncIterator]() };
}

describe.each(["legacy", "auto"] as const)("heddle mcp, with the %s handshake", (mode) => {
  test("[MSV30] the official client asks an agent of the running gateway", async () => {
    const scene = await stage.scene();
    scene.plays("Hello there.");
    const asking = await client({ env: ofStage(), cwd: scene.root, mode });
    const { tools } = await asking.listTools();
    expect(tools.map(({ name }) => name)).toContain("agents_message");
    const answer = jsonOf(
      await asking.callTool({ name: "agents_message", arguments: { agentId: "helper", content: "hi" } }),
    );
    expect(answer).toMatchObject({ status: "complete", response: "Hello there." });
    expect((await scene.runs()).map(({ id }) => id)).toEqual([answer.responseId]);
  });

  test("[MSV32] with the token of a thread it has that thread's tools, and a call can be cancelled", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const { id: thread_id } = await scene.start({ agent_id: "limited" });
    const { app, url } = stage.gateway();
    const token = app.gateway.access.issue({ workspace_id, thread_id });
    const bridge = await client({ env: { HEDDLE_URL: url, HEDDLE_TOKEN: token }, mode });
    const { tools } = await bridge.listTools();
    expect(tools.map(({ name }) => name).filter((name) => !name.startsWith("system_"))).toEqual([
      "held_work",
    ]);
    const words = `by stdio ${mode}`;
    const before = held.begun.length;
    const leaving = new AbortController();
    const waiting = bridge
      .callTool({ name: "held_work", arguments: { words } }, { signal: leaving.signal })
      .catch((error: unknown) => error);
    await held.began(before + 1);
    leaving.abort();
    expect(await waiting).toBeInstanceOf(Error);
    await expect.poll(() => held.stopped).toContain(words);
    app.gateway.access.revoke(token);
    await expect(bridge.listTools()).rejects.toThrow("does not accept the token");
  });
});

test("[MSV31] without a gateway it runs one, which others find, and ends it with the client", async () => {
  const data = join(realpathSync(temporaryDirectory()), "data");
  const first = await client({ args: ["--data", data] });
  const { agents } = jsonOf(await first.callTool({ name: "agents_list" }));
  expect(agents.map(({ agentId }: { agentId: string }) => agentId)).toContain("demo");
  const { url, token } = JSON.parse(readFileSync(join(data, "gateway.json"), "utf8"));
  expect((await fetch(`${url}/v1/models`, { headers: { Authorization: `Bearer ${token}` } })).status).toBe(
    200,
  );
  const second = await client({ args: ["--data", data] });
  const asked = { name: "agents_message", arguments: { agentId: "demo", content: "hello" } };
  const { sessionId } = jsonOf(await second.callTool(asked));
  const { threads } = jsonOf(await first.callTool({ name: "threads_list" }));
  expect(threads.map(({ threadId }: { threadId: string }) => threadId)).toEqual([sessionId]);
  await first.close();
  await expect.poll(() => existsSync(join(data, "gateway.json"))).toBe(false);
  // The second one's gateway was the first one's: it goes on with one of its own.
  const after = jsonOf(await second.callTool({ name: "threads_list" }));
  expect(after.threads).toHaveLength(1);
});

test("[MSV33] standard output carries the protocol only, and every line is answered", async () => {
  const { child, lines } = bare({ env: ofStage() });
  child.stdin?.write("this is no JSON\n\n7\n");
  for (let times = 0; times < 2; times++) {
    expect(JSON.parse((await lines.next()).value)).toMatchObject({ id: null, error: { code: -32700 } });
  }
  child.stdin?.write('{"jsonrpc":"2.0","id":"a","method":"tools/list"}\n');
  expect(JSON.parse((await lines.next()).value)).toMatchObject({
    id: "a",
    result: { tools: expect.any(Array) },
  });
  child.stdin?.write('{"jsonrpc":"2.0","id":2,"method":"nothing/here"}\n');
  expect(JSON.parse((await lines.next()).value)).toMatchObject({ id: 2, error: { code: -32601 } });
  // What was asked before the end of the input is answered before the end.
  child.stdin?.end('{"jsonrpc":"2.0","id":3,"method":"ping"}\n');
  expect(JSON.parse((await lines.next()).value)).toMatchObject({ id: 3, result: {} });
  expect((await lines.next()).done).toBe(true);
});

test("[MSV33] it ends with its client, or at a signal, and leaves nothing running", async () => {
  const { child } = bare({ env: ofStage() });
  const ending = ended(child);
  child.stdin?.end();
  expect(await ending).toMatchObject({ code: 0, stdout: "", stderr: "" });
  const data = join(realpathSync(temporaryDirectory()), "data");
  const other = bare({ args: ["--data", data] });
  const stopped = ended(other.child);
  await expect.poll(() => existsSync(join(data, "gateway.json"))).toBe(true);
  other.child.kill("SIGTERM");
  expect(await stopped).toMatchObject({ code: 0, stdout: "" });
  expect(existsSync(join(data, "gateway.json"))).toBe(false);
});

test("[MSV34] a gateway that can't be reached is an answer, and a wrong command line is told at once", async () => {
  const { child, lines } = bare({ env: { HEDDLE_URL: await deadAddress(), HEDDLE_TOKEN: "x" } });
  child.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  const answer = JSON.parse((await lines.next()).value);
  expect(answer).toMatchObject({ id: 1, error: { message: expect.stringContaining("can't be reached") } });
  const wrong = await ended(bare({ args: ["--url", "nonsense", "--token", "x"] }).child);
  expect(wrong).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("no address") });
});

test("[MSV35] its help shows what to write into a client's configuration", async () => {
  const { code, stdout } = await ended(bare({ args: ["--help"] }).child);
  expect(code).toBe(0);
  expect(stdout).toContain('"heddle": { "command": "heddle", "args": ["mcp"] }');
  expect(stdout).toContain("agents_message");
  expect(stdout).toContain("--workspace");
});

test("[MSV12] the workspace can be named on the command line", async () => {
  const scene = await stage.scene();
  const named = await client({ env: ofStage(), args: ["--workspace", scene.root] });
  const { workspace } = jsonOf(await named.callTool({ name: "agents_list" }));
  expect(workspace.id).toBe(scene.workspace_id);
});

test("[MSV34] a workspace that there is not is told at once, in the words of every command, and to the client", async () => {
  const { child } = bare({ env: ofStage(), args: ["--workspace", "nope"] });
  const ending = ended(child);
  child.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  const { code, stdout, stderr } = await ending;
  expect(code).toBe(1);
  expect(stderr).toBe(
    "heddle: No workspace is called nope, and none has that directory. `heddle workspaces` lists the ones there are, `heddle workspaces create nope` makes one for a directory.\n",
  );
  for (const line of stdout.split("\n").filter((each) => each !== ""))
    expect(JSON.parse(line)).toMatchObject({ id: 1, error: { message: expect.stringContaining("nope") } });
  const own = await ended(
    bare({ args: ["--workspace", "nope", "--data", join(temporaryDirectory(), "d")] }).child,
  );
  expect(own).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("is called nope") });
});

test("[MSV34] a gateway that can't be asked for its workspaces keeps the command from nothing", async () => {
  const env = { HEDDLE_URL: await deadAddress(), HEDDLE_TOKEN: "x" };
  const { child, lines } = bare({ env, args: ["--workspace", "nope"] });
  child.stdin?.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  expect(JSON.parse((await lines.next()).value)).toMatchObject({ id: 1, error: expect.any(Object) });
  const scene = await stage.scene();
  const { id: thread_id } = await scene.start({ agent_id: "limited" });
  const { app, url } = stage.gateway();
  const token = app.gateway.access.issue({ workspace_id: scene.workspace_id, thread_id });
  const bridge = await client({
    env: { HEDDLE_URL: url, HEDDLE_TOKEN: token },
    args: ["--workspace", "nope"],
  });
  expect((await bridge.listTools()).tools.length).toBeGreaterThan(0);
});

/** One that nothing listens at any more. */
async function deadAddress(): Promise<string> {
  const server = createServer();
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return `http://127.0.0.1:${port}`;
}
