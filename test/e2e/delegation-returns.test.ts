import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Run } from "../../src/protocol/index.js";
import { answerTo, playByAgent, requestsOf } from "../support/agents.js";
import {
  askedIn,
  atRest,
  childOf,
  delegates,
  delegationConfig,
  returnedTo,
  runsOf,
  saysAfter,
} from "../support/delegation.js";
import { reached } from "../support/mortal-gateway.js";
import { calls, RunScene, runStage, verifyAll } from "../support/runs.js";
import { onEitherStore } from "../support/stores.js";

const background = (content: string) => delegates({ agentId: "notes", content, mode: "async" });

onEitherStore("results that come back", (kind) => {
  const asking = { general: { toolApprovals: { ask: ["system_time"] } } };
  const stage = runStage(kind, { config: delegationConfig(["general", "notes"], { agents: asking }) });
  let gates = 0;
  const newGate = () => `returns ${kind.name} ${++gates}`;

  /** What the last result that came back says. */
  async function told(scene: RunScene, thread_id: string): Promise<string> {
    return (await askedIn(scene, thread_id)).at(-1) as string;
  }

  test("[DEL20] an async call returns at once, and its result comes back to an idle thread as a run, with what was asked", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    const gate = newGate();
    playByAgent(scene.model, {
      general: [background("take your time"), "started", "thanks"],
      notes: [saysAfter(gate, "here it is")],
    });
    const run = await scene.answered(id, "go");
    const child = await childOf(scene, "notes", "running");
    expect(answerTo(scene.model, "general")).toEqual({
      mode: "async",
      status: "started",
      agentId: "notes",
      sessionId: child.thread_id,
      sessionName: expect.any(String),
      created: true,
      responseId: child.id,
    });
    scene.model.open(gate);
    const [returned] = await returnedTo(scene, id);
    expect(returned?.origin).toEqual({
      kind: "returned",
      mode: "async",
      run_id: child.id,
      thread_id: child.thread_id,
      agent_id: "notes",
      depth: 0,
      hops: 1,
    });
    const last = requestsOf(scene.model, "general").at(-1)?.messages.at(-1);
    expect(last).toMatchObject({ role: "user" });
    expect(last?.content).toBe(
      `[agents_message] notes has completed what you asked it in the background.

agentId: notes
sessionId: ${child.thread_id}
responseId: ${child.id}
status: complete

You had asked:
take your time

Its answer:
here it is`,
    );
    const messages = await scene.messages(id);
    expect(messages.findLast(({ role }) => role === "user")).toMatchObject({
      heddle: { from: { kind: "returned", agentId: "notes", threadId: child.thread_id, runId: child.id } },
    });
    const { workspace_id } = scene;
    const tree = await scene.wire.result("run/list", { workspace_id, tree_of: run.id });
    expect(tree.data.map((one) => one.id)).toEqual([run.id, child.id, returned?.id]);
    await verifyAll(scene);
  });

  test("[DEL21] failure, cancel and interruption come back too, each with what was asked and why", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    const broken = { steps: [{ status: 400, body: { error: { message: "the model is broken" } } }] };
    playByAgent(scene.model, { general: [background("will fail"), "ok", "noted"], notes: [broken] });
    await scene.answered(id, "go");
    await returnedTo(scene, id, 1);
    expect(await told(scene, id)).toMatch(/status: failed[\s\S]*You had asked:\nwill fail[\s\S]*Why:\n\S/);

    playByAgent(scene.model, {
      general: [background("will be stopped"), "ok", "noted"],
      notes: [{ steps: [{ text: "half an answer" }, { hang: true }] }],
    });
    await scene.answered(id, "go");
    const child = await childOf(scene, "notes", "running");
    await reached(async () =>
      expect((await scene.journal(child.id)).map(({ type }) => type)).toContain("effect.progress"),
    );
    await scene.wire.result("run/cancel", { run_id: child.id });
    await returnedTo(scene, id, 2);
    expect(await told(scene, id)).toMatch(
      /status: cancelled[\s\S]*will be stopped[\s\S]*Its run was cancelled\.[\s\S]*half an answer/,
    );

    playByAgent(scene.model, {
      general: [background("will be cut short"), "ok", "noted"],
      notes: [{ steps: [{ hang: true }] }],
    });
    await scene.answered(id, "go");
    await childOf(scene, "notes", "running");
    await stage.restart();
    const again = await stage.again(scene);
    await returnedTo(again, id, 3);
    expect(await told(again, id)).toMatch(
      /status: interrupted[\s\S]*will be cut short[\s\S]*gateway stopped/,
    );
    await verifyAll(again);
  }, 30_000);

  test("[DEL22] a caller that is at work is given a result with its next step, and no run of its own is made for it", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    const [child, busy] = [newGate(), newGate()];
    playByAgent(scene.model, {
      general: [background("meanwhile"), saysAfter(busy, "still at it"), "now I have it"],
      notes: [saysAfter(child, "ready")],
    });
    const { run } = await scene.startRun(id, "go");
    await scene.model.request(2);
    scene.model.open(child);
    await reached(async () => expect((await childOf(scene, "notes")).status).toBe("completed"));
    await reached(async () =>
      expect((await scene.journal(run.id)).map(({ type }) => type)).toContain("run.steered"),
    );
    scene.model.open(busy);
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed", steps: 3 });
    expect(String(requestsOf(scene.model, "general").at(-1)?.messages.at(-1)?.content)).toMatch(
      /meanwhile[\s\S]*ready/,
    );
    expect(await runsOf(scene, "general")).toHaveLength(1);
    expect((await askedIn(scene, id))[1]).toMatch(/^\[agents_message\] notes/);
    await verifyAll(scene);
  });

  test("[DEL23] a caller that waits for somebody's word goes on waiting, and is given the result afterwards", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    const gate = newGate();
    playByAgent(scene.model, {
      general: [background("meanwhile"), calls("system_time"), "now I have both"],
      notes: [saysAfter(gate, "ready")],
    });
    const { run } = await scene.startRun(id, "go");
    await scene.changed(run.id, ({ status }) => status === "waiting");
    scene.model.open(gate);
    await reached(async () =>
      expect((await scene.journal(run.id)).map(({ type }) => type)).toContain("run.steered"),
    );
    const { status, approvals: [asked] = [] } = await scene.getRun(run.id);
    expect(status).toBe("waiting");
    const { tool_call_id = "" } = asked ?? {};
    await scene.wire.result("run/approve", { run_id: run.id, tool_call_id, decision: "allow" });
    await scene.ended(run.id);
    const last = requestsOf(scene.model, "general").at(-1)?.messages.slice(-2);
    expect(last?.map(({ role }) => role)).toEqual(["tool", "user"]);
    expect(String(last?.[1]?.content)).toContain("ready");
    expect(await runsOf(scene, "general")).toHaveLength(1);
  });

  test("[DEL24] a result for a thread that is gone is dropped, and nothing is left waiting for it", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    const gate = newGate();
    playByAgent(scene.model, {
      general: [background("for nobody"), "ok"],
      notes: [saysAfter(gate, "ready")],
    });
    await scene.answered(id, "go");
    await scene.wire.result("thread/delete", { workspace_id: scene.workspace_id, thread_id: id });
    scene.model.open(gate);
    await childOf(scene, "notes", "completed");
    await sleep(100);
    const before = scene.model.requests.length;
    await stage.restart();
    const again = await stage.again(scene);
    await sleep(100);
    expect(again.model.requests.length).toBe(before);
    expect((await atRest(again)).filter(({ origin }) => origin?.kind === "returned")).toEqual([]);
  });

  test("[DEL27] in a workspace that is deleted nothing comes back and nothing begins; once it is there again it comes back", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const { id } = await scene.start({ agent_id: "general" });
    const begun = { steps: [{ text: "half an answer" }, { hang: true as const }] };
    for (const restarted of [false, true]) {
      playByAgent(scene.model, { general: [background("for later"), "ok", "thanks"], notes: [begun] });
      const again = restarted ? await stage.again(scene) : scene;
      await again.answered(id, "go");
      const child = await childOf(again, "notes", "running");
      await reached(async () =>
        expect((await again.journal(child.id)).map(({ type }) => type)).toContain("effect.progress"),
      );
      await again.wire.result("workspace/delete", { workspace_id });
      expect(await again.getRun(child.id)).toMatchObject({ status: "cancelled" });
      const before = requestsOf(scene.model, "general").length;
      await sleep(300);
      if (restarted) await stage.restart();
      expect(requestsOf(scene.model, "general")).toHaveLength(before);
      const wire = await stage.gateway().wire();
      await wire.result("workspace/undelete", { workspace_id });
      wire.close();
      const there = await stage.again(scene);
      const returned = await returnedTo(there, id, restarted ? 2 : 1);
      expect(returned.map(({ status }) => status)).not.toContain("failed");
      expect(await told(there, id)).toMatch(/status: cancelled[\s\S]*for later[\s\S]*half an answer/);
      await verifyAll(there);
    }
  });

  test("[DEL27] a workspace that can't be deleted gives back what ended meanwhile", async () => {
    const { wire, model } = await stage.scene();
    const workspace_id = stage.gateway().home;
    const home = new RunScene(wire, workspace_id, "", model);
    const { id } = await home.start({ agent_id: "general" });
    playByAgent(model, {
      general: [background("at home"), "ok", "thanks"],
      notes: [{ steps: [{ hang: true }] }],
    });
    await home.answered(id, "go");
    await childOf(home, "notes", "running");
    expect(await wire.error("workspace/delete", { workspace_id })).toMatchObject({
      data: { kind: "workspace.is_home" },
    });
    await returnedTo(home, id);
  });

  test("[DEL25] an answer that no message may hold comes back all the same, and a long one is cut", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    playByAgent(scene.model, {
      general: [background("strange"), "ok", "thanks"],
      notes: [{ steps: [{ text: `a\u0000b${"€".repeat(40_000)}` }] }],
    });
    await scene.answered(id, "go");
    await returnedTo(scene, id);
    const text = await told(scene, id);
    expect(text).toContain("Its answer (cut):\na\uFFFDb€€");
    expect(Buffer.byteLength(text)).toBeLessThan(66 * 1024);
  });

  test("[DEL26] results of several calls each come back once, whoever ends first", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    const all = [1, 2, 3, 4].map((at) => ({
      agentId: "notes",
      content: `part ${at}.`,
      mode: "async" as const,
      session: "create",
    }));
    playByAgent(scene.model, { general: [delegates(...all), "ok"], notes: ["w", "x", "y", "z"] });
    await scene.answered(id, "go");
    const parts = async () =>
      (await askedIn(scene, id)).flatMap((text) => /You had asked:\npart (\d)\./.exec(text)?.[1] ?? []);
    await reached(async () => expect((await parts()).sort()).toEqual(["1", "2", "3", "4"]));
    const runs: Run[] = await atRest(scene);
    expect(runs.filter(({ status }) => status !== "completed")).toEqual([]);
    expect((await parts()).sort()).toEqual(["1", "2", "3", "4"]);
    await verifyAll(scene);
  });
});
