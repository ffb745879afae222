import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { agentNamed, answerTo, playByAgent } from "../support/agents.js";
import { endOf, MortalGateway, reached } from "../support/mortal-gateway.js";
import { calls, type RunScene, verifyAll } from "../support/runs.js";
import { onEachStore } from "../support/stores.js";

type Tool = "test_write" | "test_look";

onEachStore("approvals with a gateway that is killed", (kind) => {
  let gateway: MortalGateway;
  let scene: RunScene;

  beforeAll(async () => {
    gateway = await MortalGateway.make(kind);
    const asker = agentNamed(gateway.model.url, "asker", { toolApprovals: { ask: ["test_*"] } });
    writeFileSync(join(gateway.place.dataDir, "heddle.config.json"), JSON.stringify({ agents: [asker] }));
    scene = await gateway.start();
  });
  beforeEach(() => gateway.model.forget());
  afterAll(() => gateway?.remove());

  async function killAndStart(between = () => {}): Promise<void> {
    await gateway.kill();
    between();
    scene = await gateway.start();
  }

  /** A run that waits until somebody allows this call. */
  async function asked(tool: Tool, id: string): Promise<{ thread_id: string; run_id: string }> {
    const { id: thread_id } = await scene.start();
    playByAgent(gateway.model, { asker: [calls(tool, { id }), "done"] });
    const { run } = await scene.startRun(thread_id, "go");
    await scene.changed(run.id, ({ status }) => status === "waiting");
    return { thread_id, run_id: run.id };
  }

  const decide = (run_id: string, decision: "allow" | "deny" | "always") =>
    scene.wire.result("run/approve", { run_id, tool_call_id: "call_1", decision });
  const begun = (tool: Tool, id: string) =>
    gateway.trace(tool).filter((line) => line === `begin ${id}`).length;

  test("[APR9] what was asked before a kill waits after it, as it was, and another client answers it", async () => {
    const { run_id, thread_id } = await asked("test_write", "before");
    const { approvals } = await scene.getRun(run_id);
    await killAndStart();
    expect(await scene.getRun(run_id)).toMatchObject({ status: "waiting", approvals });
    expect((await scene.get(thread_id)).status).toBe("waiting");
    expect(begun("test_write", "before")).toBe(0);
    await killAndStart();
    expect((await decide(run_id, "allow")).run.id).toBe(run_id);
    expect(await endOf(scene, run_id)).toMatchObject({ status: "completed" });
    expect(begun("test_write", "before")).toBe(1);
    expect(answerTo(gateway.model, "asker")).toBe("traced before");
    await verifyAll(scene);
  });

  test("[APR10] killed right after it was allowed: nobody is asked again; it is made, unless it may have been made and must not be repeated", async () => {
    gateway.hold("test_look");
    gateway.hold("test_write");
    const look = await asked("test_look", "again");
    await decide(look.run_id, "allow");
    const write = await asked("test_write", "perhaps");
    await decide(write.run_id, "allow");
    await reached(() => expect(begun("test_write", "perhaps")).toBe(1));
    playByAgent(gateway.model, { asker: ["done", "done"] });
    // Not before: a tool that is let go in time has ended when the gateway is killed.
    await killAndStart(() => {
      gateway.release("test_look");
      gateway.release("test_write");
    });
    for (const { run_id } of [look, write]) {
      const run = await endOf(scene, run_id);
      expect(run).toMatchObject({ status: "completed" });
      expect((await scene.journal(run_id)).filter(({ type }) => type === "effect.requested").length).toBe(4);
    }
    const said = gateway.model.requests.map(({ body }) => body).join("\n");
    expect(said).toContain("traced again");
    expect(said).toContain("was not called again");
    expect(begun("test_write", "perhaps")).toBe(1);
    await verifyAll(scene);
  });

  test("[APR10] killed right after it was denied, or allowed for good: that was the answer, and it holds", async () => {
    const denied = await asked("test_write", "never");
    await decide(denied.run_id, "deny");
    const always = await asked("test_look", "always");
    await decide(always.run_id, "always");
    await killAndStart();
    expect(await endOf(scene, denied.run_id)).toMatchObject({ status: "completed" });
    expect(begun("test_write", "never")).toBe(0);
    expect((await scene.messages(denied.thread_id)).at(-1)).toMatchObject({
      toolCalls: [{ name: "test_write", status: "failed" }],
    });
    await endOf(scene, always.run_id);
    expect((await scene.get(always.thread_id)).granted_tools).toEqual(["test_look"]);
    playByAgent(gateway.model, { asker: [calls("test_look", { id: "unasked" }), "done"] });
    await scene.answered(always.thread_id, "once more");
    expect(begun("test_look", "unasked")).toBe(1);
    await verifyAll(scene);
  });
});
