import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tools/index.js";
import { agentNamed, playByAgent } from "../support/agents.js";
import { calls, type RunScene, runStage } from "../support/runs.js";
import { onEachStore } from "../support/stores.js";

const risky = defineTool({
  name: "risky_work",
  description: "Does something that somebody should know of.",
  parameters: z.strictObject({ what: z.string() }),
  capabilities: ["risky"],
  safeToRepeat: false,
  asks: true,
  run: () => ({ status: "completed" as const, output: "did it" }),
});

onEachStore("what is asked", (kind) => {
  const config = (url: string) => ({ agents: [agentNamed(url, "asker")] });
  const stage = runStage(kind, { config, options: { tools: [risky] } });

  async function asked(scene: RunScene, what: string) {
    const { id } = await scene.start({ agent_id: "asker" });
    playByAgent(scene.model, { asker: [calls("risky_work", { what }), "done"] });
    const { run } = await scene.startRun(id, "go");
    const { approvals = [] } = await scene.changed(run.id, ({ status }) => status === "waiting");
    return { run_id: run.id, approval: approvals[0] };
  }

  test("[APR20] long arguments are marked as cut, and can be read whole: while they wait, after a restart, and when they are answered", async () => {
    let scene = await stage.scene();
    const what = `${"a".repeat(1_988)}🧵${"b".repeat(50_000)}; rm -rf ~`;
    const whole = JSON.stringify({ what });
    const { run_id, approval } = await asked(scene, what);
    expect(approval).toMatchObject({ truncated: true, arguments_chars: whole.length });
    expect(approval?.arguments).toHaveLength(2_000);
    expect(approval?.arguments.isWellFormed()).toBe(true);
    const call = { tool_call_id: "call_1", name: "risky_work", arguments: whole };
    const read = () => scene.wire.result("run/get", { run_id, tool_call_id: "call_1" });
    expect(await read()).toMatchObject({ call, run: { id: run_id, status: "waiting" } });
    expect(await scene.wire.result("run/get", { run_id })).not.toHaveProperty("call");
    await stage.restart();
    scene = await stage.again(scene);
    const after = await read();
    expect(after).toMatchObject({ call, run: { status: "waiting" } });
    expect(after.run.approvals).toEqual([approval]);
    await scene.wire.result("run/approve", { run_id, tool_call_id: "call_1", decision: "deny" });
    await scene.ended(run_id);
    expect(await read()).toMatchObject({ call, run: { status: "completed" } });
  });

  test("[APR20] short ones are whole and not marked, and a call that was never asked for is refused", async () => {
    const scene = await stage.scene();
    const { run_id, approval } = await asked(scene, "x".repeat(1_989));
    expect(approval?.arguments).toHaveLength(2_000);
    expect(approval).not.toHaveProperty("truncated");
    expect(approval).not.toHaveProperty("arguments_chars");
    const other = await scene.wire.error("run/get", { run_id, tool_call_id: "call_2" });
    expect(other).toMatchObject({
      code: -32600,
      data: { kind: "run.not_asking", run_id, tool_call_id: "call_2", status: "waiting" },
    });
    const elsewhere = await stage.scene();
    const { workspace_id } = elsewhere;
    const strange = await elsewhere.wire.error("run/get", { workspace_id, run_id, tool_call_id: "call_1" });
    expect(strange).toMatchObject({ data: { kind: "run.not_found" } });
    await scene.wire.result("run/cancel", { run_id });
  });
});
