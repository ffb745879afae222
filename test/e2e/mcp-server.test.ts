import type { Client } from "@modelcontextprotocol/client";
import { describe, expect, test } from "vitest";
import { jsonOf, type McpGiven, mcpClient, textOf } from "../support/mcp-client.js";
import { agentAt, apis, calls, type RunScene, type RunStage, runStage, says } from "../support/runs.js";
import { onEitherStore } from "../support/stores.js";
import { soon } from "../support/threads.js";

const config = (url: string) => ({
  agents: [
    agentAt(url, apis[0], { agentId: "helper", displayName: "Helper", description: "Helps." }),
    agentAt(url, apis[0], { agentId: "other" }),
    agentAt(url, apis[0], { agentId: "secret", uiVisible: false }),
    { agentId: "keyless", displayName: "Keyless", chat: { provider: "anthropic", model: "x" } },
  ],
});

type Extra = Omit<Partial<McpGiven>, "url" | "token">;

const opener =
  (stage: RunStage) =>
  (extra: Extra = {}): Promise<Client> => {
    const { url, token } = stage.gateway();
    return mcpClient({ url, token, ...extra });
  };

const within = ({ workspace_id }: RunScene) => ({ "X-Heddle-Workspace": workspace_id });

const message = (more: object) => ({
  name: "agents_message",
  arguments: { agentId: "helper", content: "hello", ...more },
});

onEitherStore("the gateway's own tools", (kind) => {
  const stage = runStage(kind, { config });
  const open = opener(stage);

  describe.each(["legacy", "auto"] as const)("with the %s handshake", (mode) => {
    test("[MSV1] five tools are listed, each with its schema and whether it only reads", async () => {
      const client = await open({ mode });
      const { tools } = await client.listTools();
      expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
        ["agents_list", true],
        ["agents_message", false],
        ["threads_list", true],
        ["threads_read", true],
        ["agents_md_read", true],
      ]);
      expect(tools.find(({ name }) => name === "agents_message")?.inputSchema).toMatchObject({
        type: "object",
        required: ["agentId", "content"],
        properties: { session: { type: "string" }, mode: { enum: ["sync", "async"] } },
        additionalProperties: false,
      });
      expect(client.getServerVersion()?.name).toBe("heddle");
    });

    test("[MSV3] what is sent is recorded as a thread and run, and its answer comes back", async () => {
      const scene = await stage.scene();
      const client = await open({ mode, headers: within(scene) });
      scene.plays("Hello there.");
      const answer = jsonOf(await client.callTool(message({ content: "hi you" })));
      expect(answer).toMatchObject({
        mode: "sync",
        status: "complete",
        agentId: "helper",
        sessionName: "hi you",
        created: true,
        response: "Hello there.",
        toolCallCount: 0,
      });
      const [run] = await scene.runs(answer.sessionId);
      expect(run).toMatchObject({ id: answer.responseId, status: "completed", agent_id: "helper" });
      expect((await scene.messages(answer.sessionId)).map(({ role }) => role)).toEqual(["user", "agent"]);
    });
  });

  test("[MSV4] the session that is meant: the latest, a new one, or one by its id", async () => {
    const scene = await stage.scene();
    const client = await open({ headers: within(scene) });
    scene.model.play(() => says("Yes."));
    const none = await client.callTool(message({ session: "latest" }));
    expect([none.isError, textOf(none)]).toEqual([true, expect.stringContaining("no thread of helper yet")]);
    const first = jsonOf(await client.callTool(message({})));
    const again = jsonOf(await client.callTool(message({ session: "latest" })));
    expect(again).toMatchObject({ sessionId: first.sessionId, created: false });
    const second = jsonOf(await client.callTool(message({ session: "create" })));
    expect(second.sessionId).not.toBe(first.sessionId);
    const named = jsonOf(await client.callTool(message({ session: first.sessionId })));
    expect(named).toMatchObject({ sessionId: first.sessionId, created: false });
    const others = await client.callTool(message({ agentId: "other", session: first.sessionId }));
    expect([others.isError, textOf(others)]).toEqual([true, expect.stringContaining("one of helper")]);
  });

  test("[MSV10] threads are listed and read, a page at a time", async () => {
    const scene = await stage.scene();
    const client = await open({ headers: within(scene) });
    scene.model.play((body) => says(`Answer to ${JSON.parse(body).messages.at(-1).content}.`));
    for (const content of ["one", "two"]) await client.callTool(message({ content, session: "create" }));
    await client.callTool(message({ content: "three" }));
    const list = (more: object) => client.callTool({ name: "threads_list", arguments: { ...more } });
    const page = jsonOf(await list({ limit: 1 }));
    expect(page.threads).toMatchObject([
      { title: "two", agentId: "helper", messageCount: 4, status: "idle" },
    ]);
    const next = jsonOf(await list({ limit: 1, cursor: page.nextCursor }));
    expect(next.threads.map(({ title }: { title: string }) => title)).toEqual(["one"]);
    expect(jsonOf(await list({ agentId: "other" })).threads).toEqual([]);
    expect(jsonOf(await list({ query: "ON" })).threads).toHaveLength(1);
    const { threadId } = page.threads[0];
    const read = (more: object) =>
      client.callTool({ name: "threads_read", arguments: { threadId, ...more } });
    const latest = jsonOf(await read({ limit: 2 }));
    expect(latest.messages.map(({ text }: { text: string }) => text)).toEqual(["Answer to three.", "three"]);
    const older = jsonOf(await read({ limit: 2, cursor: latest.nextCursor }));
    expect(older.messages.map(({ role, text }: { role: string; text: string }) => [role, text])).toEqual([
      ["agent", "Answer to two."],
      ["user", "two"],
    ]);
    expect(jsonOf(await read({ order: "asc", limit: 1 })).messages[0].text).toBe("two");
    const missing = await client.callTool({ name: "threads_read", arguments: { threadId: "thr_none" } });
    expect([missing.isError, textOf(missing)]).toEqual([true, "There is no thread thr_none."]);
  });

  test("[MSV11] the AGENTS.md in effect for a folder or a thread is read, with where it comes from", async () => {
    const scene = await stage.scene();
    const client = await open({ headers: within(scene) });
    const read = async (more: object) =>
      jsonOf(await client.callTool({ name: "agents_md_read", arguments: { ...more } }));
    expect(await read({})).toEqual({ message: "No AGENTS.md is in effect here." });
    const { workspace_id } = scene;
    const make = async (name: string, parent_folder_id?: string) =>
      (await scene.wire.result("thread/folder/create", { workspace_id, name, parent_folder_id })).folder.id;
    const backend = await make("Backend");
    const payments = await make("Payments", backend);
    await scene.saveDoc("Be brief.");
    await scene.saveDoc("Use cents.", backend);
    expect(await read({})).toMatchObject({ source: "/", inherited: false, content: "Be brief.", version: 1 });
    expect(await read({ folder: "Backend/Payments" })).toMatchObject({
      source: "/Backend",
      inherited: true,
      content: "Use cents.",
    });
    expect(await read({ folder: payments })).toMatchObject({ source: "/Backend" });
    const { id } = await scene.start({ folder_id: payments, agent_id: "helper" });
    expect(await read({ threadId: id })).toMatchObject({ source: "/Backend", content: "Use cents." });
    const missing = await client.callTool({ name: "agents_md_read", arguments: { folder: "Nowhere" } });
    expect([missing.isError, textOf(missing)]).toEqual([true, expect.stringContaining("Nowhere")]);
  });
});

describe("calls", () => {
  const stage = runStage(undefined, { config });
  const open = opener(stage);

  test("[MSV2] the agents that can be asked are listed, with those that can't be used and why", async () => {
    const client = await open();
    const { agents } = jsonOf(await client.callTool({ name: "agents_list" }));
    expect(agents.map(({ agentId, available }: Record<string, unknown>) => [agentId, available])).toEqual([
      ["helper", true],
      ["other", true],
      ["keyless", false],
    ]);
    expect(agents[0]).toMatchObject({ displayName: "Helper", description: "Helps." });
    expect(agents[2].reason).toContain("key");
  });

  test("[MSV4] an agent that is hidden, unknown or can't be used is not asked, and no thread is left", async () => {
    const scene = await stage.scene();
    const client = await open({ headers: within(scene) });
    for (const agentId of ["secret", "nobody", "keyless"]) {
      const refused = await client.callTool(message({ agentId }));
      expect(refused.isError, agentId).toBe(true);
      expect(textOf(refused)).toMatch(agentId === "keyless" ? /key/ : `There is no agent ${agentId}.`);
    }
    expect(textOf(await client.callTool(message({ agentId: "secret" })))).not.toMatch(/are:.*secret/);
    expect(textOf(await client.callTool(message({ content: "  " })))).toContain("empty");
    expect(jsonOf(await client.callTool({ name: "threads_list" })).threads).toEqual([]);
    expect(scene.model.requests).toEqual([]);
  });

  test("[SES9] whoever chose the thread of a call that is refused meanwhile goes on in it", async () => {
    const scene = await stage.scene();
    scene.model.play(() => says("Here."));
    const [refused, other] = await Promise.all([1, 2].map(() => open({ headers: within(scene) })));
    const runs: string[] = [];
    for (let at = 0; at < 20; at += 1) {
      const [failure, started] = await Promise.all([
        refused?.callTool(message({ content: " ", session: "create" })),
        other?.callTool(message({ mode: "async" })),
      ]);
      expect(failure?.isError).toBe(true);
      runs.push(jsonOf(started as never).responseId);
    }
    for (const id of runs) expect(await endOf(scene, id)).toMatchObject({ status: "completed" });
    const used = new Set((await scene.runs()).map(({ thread_id }) => thread_id));
    await soon(async () => new Set((await scene.tree()).threads.map(({ id }) => id))).toEqual(used);
  });

  test("[MSV5] without waiting the run goes on, also when the client has gone", async () => {
    const scene = await stage.scene();
    scene.plays({ steps: [{ gate: "go" }, { text: "Done." }] });
    const client = await open({ headers: within(scene) });
    const answer = jsonOf(await client.callTool(message({ mode: "async" })));
    expect(answer).toMatchObject({ mode: "async", status: "started", created: true });
    await scene.model.request(0);
    await client.close();
    scene.model.open("go");
    await scene.wire.result("subscribe", { workspace_id: scene.workspace_id });
    const run = await endOf(scene, answer.responseId);
    expect(run.status).toBe("completed");
  });

  test("[MSV6] a time limit ends the wait and not the run", async () => {
    const scene = await stage.scene();
    scene.plays({ steps: [{ gate: "late" }, { text: "Done." }] });
    const client = await open({ headers: within(scene) });
    const answer = jsonOf(await client.callTool(message({ timeoutSeconds: 0.3 })));
    expect(answer).toMatchObject({ mode: "sync", status: "timeout", timeoutSeconds: 0.3 });
    expect(answer.message).toContain("threads_read");
    scene.model.open("late");
    expect((await endOf(scene, answer.responseId)).status).toBe("completed");
  });

  test.each(["auto", "legacy"] as const)(
    "[MSV7] a client that leaves while it waits takes the run along [%s]",
    async (mode) => {
      const scene = await stage.scene();
      scene.plays({ steps: [{ gate: "never" }, { text: "Done." }] });
      const client = await open({ mode, headers: within(scene) });
      const leaving = new AbortController();
      const waiting = client.callTool(message({}), { signal: leaving.signal }).catch((error) => error);
      await scene.model.request(0);
      const [run] = await scene.runs();
      if (mode === "auto") leaving.abort();
      else await client.close();
      expect(await waiting).toBeInstanceOf(Error);
      expect((await endOf(scene, run?.id ?? "")).status).toBe("cancelled");
    },
  );

  test.each([
    ["auto", "cancels"],
    ["legacy", "cancels"],
    ["legacy", "has no more time for"],
  ] as const)(
    "[MSV7] [%s] a client that %s a call takes the run along, and can be used on",
    async (mode, how) => {
      const scene = await stage.scene();
      scene.plays({ steps: [{ gate: "never" }, { text: "Done." }] });
      const client = await open({ mode, headers: within(scene) });
      const leaving = new AbortController();
      const options = how === "cancels" ? { signal: leaving.signal } : { timeout: 1500 };
      const waiting = client.callTool(message({}), options).catch((error) => error);
      await scene.model.request(0);
      if (how === "cancels") leaving.abort();
      expect(await waiting).toBeInstanceOf(Error);
      const [run] = await scene.runs();
      expect((await endOf(scene, run?.id ?? "")).status).toBe("cancelled");
      expect((await client.listTools()).tools).toHaveLength(5);
    },
  );

  test("[MSV7] a cancellation ends no call of a client elsewhere, and neither of two that can't be told apart", async () => {
    const scenes = [await stage.scene(), await stage.scene()] as const;
    const started = async (scene: RunScene, signal?: AbortSignal) => {
      scene.plays({ steps: [{ gate: `over ${scene.workspace_id}` }, { text: "Done." }] });
      const before = (await scene.runs()).length;
      const client = await open({ headers: within(scene) });
      const options = signal ? { signal } : {};
      const waiting = client.callTool(message({ session: "create" }), options).catch((error) => error);
      await expect.poll(async () => (await scene.runs()).length).toBe(before + 1);
      return { client, waiting };
    };
    const leaving = new AbortController();
    const elsewhere = await started(scenes[0]);
    const gone = await started(scenes[1], leaving.signal);
    const twin = await started(scenes[1]);
    leaving.abort();
    expect(await gone.waiting).toBeInstanceOf(Error);
    await Promise.all([elsewhere, twin].map(({ client }) => client.listTools()));
    for (const scene of scenes) scene.model.open(`over ${scene.workspace_id}`);
    expect(jsonOf(await elsewhere.waiting)).toMatchObject({ response: "Done." });
    expect(jsonOf(await twin.waiting)).toMatchObject({ response: "Done." });
  });

  test("[MSV8] a run that fails is an error with its status and its reason", async () => {
    const scene = await stage.scene();
    const client = await open({ headers: within(scene) });
    scene.plays({ steps: [{ status: 400, body: { error: { message: "no such model" } } }] });
    const answer = await client.callTool(message({}));
    expect(answer.isError).toBe(true);
    expect(jsonOf(answer)).toMatchObject({
      status: "failed",
      agentId: "helper",
      message: expect.stringContaining("no such model"),
    });
  });

  test("[MSV9] who asks for progress hears that the call is at work, and need not give up", async () => {
    const scene = await stage.scene();
    const client = await open({ headers: within(scene) });
    scene.plays({ steps: [{ gate: "heard" }, { text: "Done." }] });
    const heard: unknown[] = [];
    const onprogress = (progress: unknown) => {
      heard.push(progress);
      scene.model.open("heard");
    };
    expect(jsonOf(await client.callTool(message({}), { onprogress, timeout: 60_000 }))).toMatchObject({
      response: "Done.",
    });
    expect(heard[0]).toMatchObject({ message: expect.stringMatching(/^at work for \d+ seconds$/) });
  });

  test("[MSV12] the workspace is the one that is named, the one that holds the client's directory, else Home", async () => {
    const scene = await stage.scene();
    const { home } = stage.gateway();
    const workspaceOf = async (headers: Record<string, string>, args: object = {}) => {
      const client = await open({ headers });
      return jsonOf(await client.callTool({ name: "agents_list", arguments: { ...args } })).workspace.id;
    };
    expect(await workspaceOf({})).toBe(home);
    expect(await workspaceOf({ "X-Heddle-Workspace": "Home" })).toBe(home);
    expect(await workspaceOf({ "X-Heddle-Workspace": encodeURIComponent(scene.root) })).toBe(
      scene.workspace_id,
    );
    const below = { "X-Heddle-Directory": encodeURIComponent(`${scene.root}/deep/er`) };
    expect(await workspaceOf(below)).toBe(scene.workspace_id);
    expect(await workspaceOf(below, { workspace: "Home" })).toBe(home);
    expect(await workspaceOf({ "X-Heddle-Directory": `${scene.root}-not` })).toBe(home);
    const client = await open({ headers: { "X-Heddle-Workspace": "Nowhere" } });
    const refused = await client.callTool({ name: "agents_list" });
    expect([refused.isError, textOf(refused)]).toEqual([true, expect.stringContaining("Nowhere")]);
  });

  test("[MSV13] arguments that do not fit and tools that are not there are refused in words", async () => {
    const client = await open();
    const unknown = await client.callTool({ name: "threads_delete", arguments: {} });
    expect([unknown.isError, textOf(unknown)]).toEqual([true, expect.stringContaining("There is no tool")]);
    const wrong = await client.callTool({
      name: "agents_message",
      arguments: { agentId: 7, content: "x", mode: "later", more: 1 },
    });
    expect(wrong.isError).toBe(true);
    for (const word of ["agentId", "mode", "more"]) expect(textOf(wrong)).toContain(word);
  });

  test("[MSV15] a call of a tool within the run is told of with the answer", async () => {
    const scene = await stage.scene();
    scene.write("a.txt", "content of a");
    scene.plays(calls("files_read", { path: "a.txt" }), "It says a.");
    const client = await open({ headers: within(scene) });
    const answer = jsonOf(await client.callTool(message({})));
    expect(answer).toMatchObject({ response: "It says a.", toolCallCount: 1 });
    const { messages } = jsonOf(
      await client.callTool({ name: "threads_read", arguments: { threadId: answer.sessionId } }),
    );
    expect(messages[0].toolCalls).toMatchObject([
      { name: "files_read", status: "completed", output: expect.stringContaining("content of a") },
    ]);
  });
});

/** By looking, from where clients are told of it. */
async function endOf(scene: RunScene, run_id: string) {
  await scene.wire.result("subscribe", { workspace_id: scene.workspace_id, after_seq: 0 });
  return scene.ended(run_id);
}
