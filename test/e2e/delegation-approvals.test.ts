import { expect, test } from "vitest";
import { z } from "zod";
import type { Run } from "../../src/protocol/index.js";
import { defineTool } from "../../src/tools/index.js";
import { playByAgent, waitingFor } from "../support/agents.js";
import { asks, atRest, childOf, delegates, delegationConfig, returnedTo } from "../support/delegation.js";
import { reached } from "../support/mortal-gateway.js";
import { calls, type RunScene, runStage } from "../support/runs.js";
import { onEitherStore } from "../support/stores.js";

const risky = defineTool({
  name: "risky_work",
  description: "Does something that somebody should know of.",
  parameters: z.strictObject({ what: z.string() }),
  capabilities: ["risky"],
  safeToRepeat: false,
  asks: true,
  run: ({ what }) => ({ status: "completed" as const, output: `did ${what}` }),
});
const works = (what: string, id = "call_1") => calls("risky_work", { what }, id);

onEitherStore("what a delegated run asks", (kind) => {
  const config = delegationConfig(["general", "notes", "other"], { limits: { maxDelegationDepth: 2 } });
  const stage = runStage(kind, { config, options: { tools: [risky] } });

  const allow = (scene: RunScene, run_id: string, tool_call_id = "call_1") =>
    scene.wire.result("run/approve", { run_id, tool_call_id, decision: "allow" });

  /** What a client that only listens believes of a run. */
  const heardOf = (scene: RunScene, run_id: string): Run | undefined =>
    scene.wire
      .notifications("run/changed")
      .map(({ params }) => params.run)
      .findLast(({ id }) => id === run_id);

  const listed = async (scene: RunScene, run_id: string) =>
    (await scene.runs()).find(({ id }) => id === run_id) as Run;

  /** However one looks at it, a run shows that these wait. */
  async function shows(scene: RunScene, run_id: string, approvals: readonly object[]): Promise<void> {
    await reached(() => expect(heardOf(scene, run_id)?.approvals ?? []).toMatchObject(approvals));
    expect((await scene.getRun(run_id)).approvals ?? []).toMatchObject(approvals);
    expect((await listed(scene, run_id)).approvals ?? []).toMatchObject(approvals);
    expect(heardOf(scene, run_id)?.approvals ?? []).toHaveLength(approvals.length);
  }

  test("[DEL50] it is shown with the run that delegated, at every level, in answers and notifications, and answered through its own run", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    playByAgent(scene.model, {
      general: [delegates({ agentId: "notes", content: "on" }), "done"],
      notes: [delegates({ agentId: "other", content: "on" }), "passed on"],
      other: [works("deep"), "did it"],
    });
    const { run } = await scene.startRun(id, "go");
    const deepest = await childOf(scene, "other", "waiting");
    const between = await childOf(scene, "notes", "running");
    const asked = {
      run_id: deepest.id,
      thread_id: deepest.thread_id,
      agent_id: "other",
      tool_call_id: "call_1",
      name: "risky_work",
      arguments: '{"what":"deep"}',
    };
    for (const one of [run, between, deepest]) await shows(scene, one.id, [asked]);
    expect((await scene.getRun(run.id)).status).toBe("running");
    expect(
      (await scene.wire.error("run/approve", { run_id: run.id, tool_call_id: "call_1", decision: "allow" }))
        .data,
    ).toMatchObject({ kind: "run.not_asking" });
    await allow(scene, deepest.id);
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
    for (const one of [run, between, deepest]) await shows(scene, one.id, []);
  });

  test("[DEL51] what a caller tells of itself meanwhile does not hide what its delegated runs ask", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    const both = {
      steps: [asks({ agentId: "notes", content: "on" }), ...works("own", "call_2").steps],
    };
    playByAgent(scene.model, { general: [both, "done"], notes: [works("delegated"), "did it"] });
    const { run } = await scene.startRun(id, "go");
    const child = await childOf(scene, "notes", "waiting");
    const own = { run_id: run.id, arguments: '{"what":"own"}' };
    const delegated = { run_id: child.id, arguments: '{"what":"delegated"}' };
    await shows(scene, run.id, [own, delegated]);
    const { run: answered } = await allow(scene, run.id, "call_2");
    expect(answered.approvals).toMatchObject([delegated]);
    await shows(scene, run.id, [delegated]);
    const { run: steered } = await scene.wire.result("run/steer", { run_id: run.id, content: "hurry" });
    expect(steered.approvals).toMatchObject([delegated]);
    await allow(scene, child.id);
    await scene.ended(run.id);
    await shows(scene, run.id, []);
  });

  test("[DEL51] a caller that has ended goes on showing what runs ask that it delegated to and did not wait for", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    playByAgent(scene.model, {
      general: [delegates({ agentId: "notes", content: "on", mode: "async" }), "started", "thanks"],
      notes: [{ steps: [{ gate: `ended ${kind.name}` }, ...works("later").steps] }, "did it"],
    });
    const run = await scene.answered(id, "go");
    scene.model.open(`ended ${kind.name}`);
    const child = await childOf(scene, "notes", "waiting");
    await shows(scene, run.id, [{ run_id: child.id }]);
    await allow(scene, child.id);
    await returnedTo(scene, id);
    await shows(scene, run.id, []);
  });

  test("[DEL52] what a run asks to which a result came back is its own: the run that had the result shows nothing of it", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    playByAgent(scene.model, {
      general: [
        delegates({ agentId: "notes", content: "on", mode: "async" }),
        "started",
        works("after"),
        "done",
      ],
      notes: ["here"],
    });
    const run = await scene.answered(id, "go");
    const returned = await reached(async () => {
      const found = (await scene.runs(id)).find(({ origin }) => origin?.kind === "returned");
      expect(found?.status).toBe("waiting");
      return found as Run;
    });
    const child = await childOf(scene, "notes", "completed");
    for (const one of [run, child]) await shows(scene, one.id, []);
    expect(waitingFor(await scene.getRun(returned.id))).toEqual(["risky_work"]);
    await allow(scene, returned.id);
    await atRest(scene);
  });

  test("[DEL34] a delegated run that waits for somebody's word is cancelled with its caller, or with the caller's thread", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const { id } = await scene.start({ agent_id: "general" });
    const ask = delegates({ agentId: "notes", content: "on", session: "create" });
    playByAgent(scene.model, { general: [ask, ask], notes: [works("one"), works("two")] });
    const first = await scene.startRun(id, "go");
    const one = await childOf(scene, "notes", "waiting");
    await shows(scene, first.run.id, [{ run_id: one.id }]);
    await scene.wire.result("run/cancel", { run_id: first.run.id });
    await reached(async () => expect((await scene.getRun(one.id)).status).toBe("cancelled"));
    await shows(scene, first.run.id, []);
    await scene.startRun(id, "again");
    const two = await childOf(scene, "notes", "waiting");
    expect(two.id).not.toBe(one.id);
    await scene.wire.result("thread/delete", { workspace_id, thread_id: id });
    await reached(async () => expect((await scene.getRun(two.id)).status).toBe("cancelled"));
    await atRest(scene);
  });

  test("[DEL53] a child that waits survives a restart, and what came of it comes back to the caller that was interrupted", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    playByAgent(scene.model, {
      general: [delegates({ agentId: "notes", content: "ask first" }), "thanks"],
      notes: [works("after the restart"), "did it"],
    });
    const { run } = await scene.startRun(id, "go");
    const child = await childOf(scene, "notes", "waiting");
    await stage.restart();
    const again = await stage.again(scene);
    expect(await again.getRun(run.id)).toMatchObject({
      status: "interrupted",
      approvals: [{ run_id: child.id }],
    });
    await allow(again, child.id);
    await returnedTo(again, id);
    expect((await again.messages(id)).findLast(({ role }) => role === "user")).toMatchObject({
      content: [{ text: expect.stringMatching(/ask first[\s\S]*did it/) }],
    });
  }, 30_000);
});
