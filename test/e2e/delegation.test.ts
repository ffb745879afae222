import { expect, test } from "vitest";
import { agentNamed, answerTo, playByAgent, requestsOf } from "../support/agents.js";
import { calls, runStage, verifyAll } from "../support/runs.js";
import { onEachStore } from "../support/stores.js";

const config = (url: string) => ({
  agents: [
    agentNamed(url, "general"),
    agentNamed(url, "notes"),
    agentNamed(url, "other"),
    agentNamed(url, "hidden", { uiVisible: false }),
    agentNamed(url, "picky", { agentAllowlist: ["notes"], agentDenylist: [] }),
  ],
  plugins: { artifacts: { enabled: false }, bash: { enabled: false } },
});

const message = (args: object, id?: string) => calls("agents_message", args, id);

onEachStore("delegation", (kind) => {
  const stage = runStage(kind, { config });

  test("[DEL1] a sync call waits for the answer and gets it with everything 002 lists", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    playByAgent(scene.model, {
      general: [message({ agentId: "notes", content: "note this" }), "done"],
      notes: [calls("system_time"), "noted"],
    });
    const run = await scene.answered(id, "go");
    const answer = answerTo(scene.model, "general") as Record<string, unknown>;
    const [child] = (await scene.runs()).filter(({ agent_id }) => agent_id === "notes");
    expect(answer).toEqual({
      mode: "sync",
      status: "complete",
      agentId: "notes",
      sessionId: child?.thread_id,
      sessionName: expect.any(String),
      created: true,
      responseId: child?.id,
      response: "noted",
      durationMs: expect.any(Number),
      toolCallCount: 1,
      toolCalls: [{ name: "system_time", durationMs: expect.any(Number) }],
    });
    expect(child).toMatchObject({
      parent_run_id: run.id,
      status: "completed",
      origin: { kind: "delegated", mode: "sync", run_id: run.id, thread_id: id, agent_id: "general", depth: 1, hops: 0 },
    });
    const { data } = await scene.wire.result("thread/messages", { thread_id: child?.thread_id as string, order: "asc" });
    expect(data[0]).toMatchObject({
      role: "user",
      content: [{ type: "text", text: "note this" }],
      heddle: { from: { kind: "delegated", agentId: "general", threadId: id, runId: run.id } },
    });
    const tree = await scene.wire.result("run/list", { workspace_id: scene.workspace_id, tree_of: run.id });
    expect(tree.data.map(({ agent_id }) => agent_id)).toEqual(["general", "notes"]);
    await verifyAll(scene);
  });

  test("[DEL2] an async call returns at once, and its result comes back to an idle thread as a run", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    playByAgent(scene.model, {
      general: [message({ agentId: "notes", content: "take your time", mode: "async" }), "started", "thanks"],
      notes: [{ steps: [{ gate: "go" }, { text: "here it is" }] }],
    });
    const run = await scene.answered(id, "go");
    expect(answerTo(scene.model, "general")).toMatchObject({ mode: "async", status: "started", agentId: "notes", created: true });
    scene.model.open("go");
    const returned = await expect
      .poll(async () => (await scene.runs(id)).find(({ origin }) => origin?.kind === "returned"), { timeout: 10_000 })
      .toBeTruthy()
      .then(async () => (await scene.runs(id)).find(({ origin }) => origin?.kind === "returned"));
    expect(returned).toMatchObject({ origin: { kind: "returned", agent_id: "notes", depth: 0, hops: 1 } });
    await scene.ended(returned?.id as string);
    const last = requestsOf(scene.model, "general").at(-1)?.messages.findLast(({ role }) => role === "user");
    expect(String(last?.content)).toMatch(/take your time[\s\S]*here it is/);
    expect(run.status).toBe("completed");
    await verifyAll(scene);
  });
});
