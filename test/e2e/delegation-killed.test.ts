import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { answerTo, playByAgent, requestsOf } from "../support/agents.js";
import { askedIn, childOf, delegates, delegationConfig, returnedTo, runsOf } from "../support/delegation.js";
import { endOf, MortalGateway, reached } from "../support/mortal-gateway.js";
import { type RunScene, verifyAll } from "../support/runs.js";
import { onEachStore } from "../support/stores.js";

onEachStore("delegation with a gateway that is killed", (kind) => {
  let gateway: MortalGateway;
  let scene: RunScene;

  beforeAll(async () => {
    gateway = await MortalGateway.make(kind);
    const config = delegationConfig(["general", "notes", "other"])(gateway.model.url);
    writeFileSync(join(gateway.place.dataDir, "heddle.config.json"), JSON.stringify(config));
    scene = await gateway.start();
  });
  beforeEach(() => gateway.model.forget());
  afterAll(() => gateway?.remove());

  async function killAndStart(): Promise<void> {
    await gateway.kill();
    scene = await gateway.start();
  }

  test("[DEL62] killed while a child is at work: the call is made again and finds that child, which is not asked twice", async () => {
    const { id } = await scene.start({ agent_id: "general" });
    const hangs = { steps: [{ hang: true as const }] };
    playByAgent(gateway.model, {
      general: [delegates({ agentId: "notes", content: "note this", session: "create" }), "done"],
      notes: [hangs, "noted"],
    });
    const { run } = await scene.startRun(id, "go");
    const child = await childOf(scene, "notes", "running");
    await reached(() => expect(requestsOf(gateway.model, "notes")).toHaveLength(1));
    await killAndStart();
    expect(await endOf(scene, run.id)).toMatchObject({ status: "completed" });
    expect(answerTo(gateway.model, "general")).toMatchObject({
      status: "complete",
      responseId: child.id,
      sessionId: child.thread_id,
      created: true,
      response: "noted",
    });
    expect(await askedIn(scene, child.thread_id)).toEqual(["note this"]);
    expect(
      (await runsOf(scene, "notes")).filter(({ parent_run_id }) => parent_run_id === run.id),
    ).toHaveLength(1);
    await verifyAll(scene);
  });

  test("[DEL63] a child that had begun to answer is interrupted, and the caller gets that as an error", async () => {
    const { id } = await scene.start({ agent_id: "general" });
    playByAgent(gateway.model, {
      general: [delegates({ agentId: "notes", content: "note this", session: "create" }), "I see"],
      notes: [{ steps: [{ text: "Half an answer" }, { hang: true }] }],
    });
    const { run } = await scene.startRun(id, "go");
    const child = await childOf(scene, "notes", "running");
    await reached(async () =>
      expect((await scene.journal(child.id)).map(({ type }) => type)).toContain("effect.progress"),
    );
    await killAndStart();
    expect(await endOf(scene, run.id)).toMatchObject({ status: "completed" });
    expect(answerTo(gateway.model, "general")).toEqual({
      status: "interrupted",
      agentId: "notes",
      sessionId: child.thread_id,
      responseId: child.id,
      message: "The gateway stopped while the agent was answering.",
    });
    await verifyAll(scene);
  });

  test("[DEL64] what nobody waits for comes back after a kill, once, also past its timeout and through two kills", async () => {
    const { id } = await scene.start({ agent_id: "general" });
    const hangs = { steps: [{ hang: true as const }] };
    playByAgent(gateway.model, {
      general: [
        delegates(
          { agentId: "notes", content: "for later", mode: "async", session: "create" },
          { agentId: "other", content: "not for long", timeout: 0.1, session: "create" },
        ),
        "started",
        "thanks",
        "thanks",
      ],
      notes: [hangs, hangs, "from notes"],
      other: [hangs, hangs, "from other"],
    });
    const { run } = await scene.startRun(id, "go");
    expect(await endOf(scene, run.id)).toMatchObject({ status: "completed" });
    expect(answerTo(gateway.model, "general", "call_2")).toMatchObject({ status: "timeout" });
    const asked = (count: number) =>
      reached(() => {
        for (const agent of ["notes", "other"]) expect(requestsOf(gateway.model, agent)).toHaveLength(count);
      });
    await asked(1);
    await killAndStart();
    await asked(2);
    await killAndStart();
    const told = async () => (await askedIn(scene, id)).filter((text) => text.startsWith("[agents_message]"));
    await reached(async () => expect(await told()).toHaveLength(2));
    for (const [asked, answer] of [
      ["for later", "from notes"],
      ["not for long", "from other"],
    ]) {
      const one = (await told()).filter((text) => text.includes(asked as string));
      expect(one).toEqual([expect.stringContaining(answer as string)]);
    }
    await killAndStart();
    expect(await told()).toHaveLength(2);
    await verifyAll(scene);
  });

  test("[DEL65] a person's call that was killed with its gateway is heard of all the same: its result comes back", async () => {
    const { id } = await scene.start({ agent_id: "general" });
    playByAgent(gateway.model, {
      notes: [{ steps: [{ hang: true }] }, "noted"],
      general: ["thanks"],
    });
    const { workspace_id } = scene;
    const args = { agentId: "notes", content: "for a person", session: "create" };
    scene.wire
      .call("tool/call", { workspace_id, thread_id: id, name: "agents_message", arguments: args })
      .catch(() => {});
    await reached(() => expect(requestsOf(gateway.model, "notes")).toHaveLength(1));
    await killAndStart();
    await returnedTo(scene, id);
    expect((await askedIn(scene, id)).at(-1)).toMatch(/for a person[\s\S]*noted/);
  });
});
