import { describe, expect, test } from "vitest";
import { heldTool } from "../support/held-tool.js";
import { mcpClient, textOf } from "../support/mcp-client.js";
import { agentAt, apis, type RunScene, runStage } from "../support/runs.js";

const held = heldTool();

const stage = runStage(undefined, {
  config: (url) => ({
    agents: [
      agentAt(url, apis[0]),
      agentAt(url, apis[0], { agentId: "limited", toolAllowlist: ["files_*", "notes_*"] }),
      agentAt(url, apis[0], { agentId: "barred", toolApprovals: { deny: ["files_read"] } }),
    ],
    plugins: {},
  }),
  options: { tools: [held.tool] },
});

interface Bound {
  readonly scene: RunScene;
  readonly thread_id: string;
  readonly url: string;
  readonly token: string;
  revoke(): void;
}

async function bound(agent_id?: string): Promise<Bound> {
  const scene = await stage.scene();
  const { workspace_id } = scene;
  const { id: thread_id } = await scene.start(agent_id === undefined ? {} : { agent_id });
  const { app, url } = stage.gateway();
  const { access } = app.gateway;
  const token = access.issue({ workspace_id, thread_id });
  return { scene, thread_id, url, token, revoke: () => access.revoke(token) };
}

describe.each(["legacy", "auto"] as const)("the tools of a thread, with the %s handshake", (mode) => {
  test("[MSV20] exactly those that its agent is offered are listed, as they are", async () => {
    const { scene, thread_id, url, token } = await bound("limited");
    const { workspace_id } = scene;
    const { data } = await scene.wire.result("tool/list", { workspace_id, thread_id });
    const offered = data.filter((tool) => tool.offered);
    const { tools } = await (await mcpClient({ url, token, mode })).listTools();
    expect(tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))).toEqual(
      offered.map(({ name, description, parameters }) => ({ name, description, inputSchema: parameters })),
    );
    const hints = Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]));
    expect(hints).toMatchObject({
      files_read: true,
      files_list: true,
      files_write: false,
      notes_create: false,
    });
    expect(Object.keys(hints)).not.toContain("bash");
    expect(Object.keys(hints)).not.toContain("held_work");
  });

  test("[MSV21] a call is made within the thread and recorded", async () => {
    const { scene, thread_id, url, token } = await bound("limited");
    scene.write("a.txt", "content of a");
    scene.plays({ steps: [{ gate: `recorded ${mode}` }, { text: "Fine." }] });
    const { run } = await scene.startRun(thread_id, "go");
    await scene.model.request(0);
    const client = await mcpClient({ url, token, mode });
    const answer = await client.callTool({ name: "files_read", arguments: { path: "a.txt" } });
    expect(answer.isError).toBeUndefined();
    expect(textOf(answer)).toContain("content of a");
    const failed = await client.callTool({ name: "files_read", arguments: { path: "b.txt" } });
    expect([failed.isError, textOf(failed)]).toEqual([true, expect.stringContaining("b.txt")]);
    await client.callTool({ name: "held_work", arguments: { words: "no" } });
    scene.model.open(`recorded ${mode}`);
    await scene.ended(run.id);
    const called = (await scene.journal(run.id)).filter(({ type }) => type === "tool.called");
    expect(called).toMatchObject([
      { name: "files_read", by: "agent", status: "completed" },
      { name: "files_read", by: "agent", status: "failed" },
      { name: "held_work", by: "agent", status: "refused" },
    ]);
  });

  test("[MSV21] what its agent may not call, or somebody has to allow, is refused in words", async () => {
    const limited = await bound("limited");
    const client = await mcpClient({ url: limited.url, token: limited.token, mode });
    const outside = await client.callTool({ name: "held_work", arguments: { words: "never" } });
    expect([outside.isError, textOf(outside)]).toEqual([true, expect.stringContaining("toolAllowlist")]);
    const asks = await client.callTool({ name: "files_write", arguments: { path: "x", content: "y" } });
    expect([asks.isError, textOf(asks)]).toEqual([true, expect.stringContaining("allow")]);
    const barred = await bound("barred");
    const denied = await (await mcpClient({ url: barred.url, token: barred.token, mode })).callTool({
      name: "files_read",
      arguments: { path: "x" },
    });
    expect([denied.isError, textOf(denied)]).toEqual([true, expect.stringContaining("was not called")]);
    expect(held.begun).not.toContain("never");
  });

  test("[MSV22] nothing of the gateway's own is there, whatever the client says of itself", async () => {
    const other = await stage.scene();
    const { url, token } = await bound("limited");
    const headers = { "X-Heddle-Workspace": other.workspace_id };
    const client = await mcpClient({ url, token, mode, headers });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).not.toContain("threads_read");
    for (const [name, args] of [
      ["threads_list", { workspace: other.workspace_id }],
      ["threads_read", { threadId: "thr_x" }],
      ["agents_message", { agentId: "openai-compatible", content: "x" }],
    ] as const) {
      const refused = await client.callTool({ name, arguments: args });
      expect(refused.isError, name).toBe(true);
    }
    expect(await other.runs()).toEqual([]);
  });

  test("[MSV23] once the token is revoked nothing more is answered, and a call under way is ended", async () => {
    const { url, token, revoke } = await bound();
    const client = await mcpClient({ url, token, mode });
    const words = `revoked ${mode}`;
    const before = held.begun.length;
    const waiting = client
      .callTool({ name: "held_work", arguments: { words } })
      .catch((error: unknown) => error);
    await held.began(before + 1);
    revoke();
    await expect.poll(() => held.stopped).toContain(words);
    await expect(client.listTools()).rejects.toMatchObject({ data: { status: 401 } });
    await client.close();
    await waiting;
  });

  test("[MSV24] a call that the client cancels is ended", async () => {
    const { url, token } = await bound();
    const client = await mcpClient({ url, token, mode });
    const words = `cancelled ${mode}`;
    const before = held.begun.length;
    const leaving = new AbortController();
    const waiting = client
      .callTool({ name: "held_work", arguments: { words } }, { signal: leaving.signal })
      .catch((error: unknown) => error);
    await held.began(before + 1);
    leaving.abort();
    expect(await waiting).toBeInstanceOf(Error);
    await expect.poll(() => held.stopped).toContain(words);
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
  });
});

test("[MSV24] a cancellation that could mean two calls ends neither", async () => {
  const { url, token } = await bound();
  const [one, two] = [await mcpClient({ url, token }), await mcpClient({ url, token })];
  const before = held.begun.length;
  const leaving = new AbortController();
  const call = (client: typeof one, words: string, signal?: AbortSignal) =>
    client
      .callTool({ name: "held_work", arguments: { words } }, signal ? { signal } : {})
      .catch((error: unknown) => error);
  const first = call(one, "twin one", leaving.signal);
  const second = call(two, "twin two");
  await held.began(before + 2);
  leaving.abort();
  await first;
  // Both clients count their requests alike; the second goes on.
  await two.listTools();
  held.release("twin two");
  expect(textOf((await second) as never)).toBe("done: twin two");
  held.release("twin one");
});

test("[MSV25] it lists what its run's agent may use, though the thread's file names another by now", async () => {
  const { scene, thread_id, url, token } = await bound("limited");
  scene.plays({ steps: [{ gate: "over" }, { text: "Done." }] });
  const { run } = await scene.startRun(thread_id, "go");
  await scene.model.request(0);
  scene.edit(thread_id, (envelope) => {
    envelope.agent.id = "openai-compatible";
  });
  await expect.poll(async () => (await scene.get(thread_id)).agent_id).toBe("openai-compatible");
  const client = await mcpClient({ url, token });
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  expect(await names()).toContain("files_read");
  expect(await names()).not.toContain("held_work");
  scene.model.open("over");
  expect((await scene.ended(run.id)).status).toBe("completed");
  expect(await names()).toContain("held_work");
});
