import { expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tools/index.js";
import { agentNamed, playByAgent } from "../support/agents.js";
import { calls, type RunScene, runStage, verifyAll } from "../support/runs.js";
import { onEitherStore } from "../support/stores.js";

const risky = defineTool({
  name: "risky_work",
  description: "Does something that somebody should know of.",
  parameters: z.strictObject({ what: z.string() }),
  capabilities: ["risky"],
  safeToRepeat: false,
  asks: true,
  run: () => ({ status: "completed" as const, output: "did it" }),
});

onEitherStore("what is asked", (kind) => {
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

  test("[APR16] what was answered stays with its run, and when: told at once, after its end, and after a restart", async () => {
    let scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "asker" });
    const three = ["a", "b", "c"].map((name) => ({
      tool_call: { id: `call_${name}`, name: "risky_work", arguments: `{"what":"${name}"}` },
    }));
    playByAgent(scene.model, { asker: [{ steps: three }, "done"] });
    const { run } = await scene.startRun(id, "go");
    await scene.changed(run.id, ({ approvals }) => approvals?.length === 3);
    const before = Math.floor(Date.now() / 1000);
    const answer = (tool_call_id: string, decision: "deny" | "always") =>
      scene.wire.result("run/approve", { run_id: run.id, tool_call_id, decision });
    const { run: now } = await answer("call_b", "deny");
    const denied = { tool_call_id: "call_b", decision: "deny", decided_at: expect.any(Number) };
    expect(now.decisions).toEqual([denied]);
    expect(now.decisions?.[0]?.decided_at).toBeGreaterThanOrEqual(before);
    expect(await scene.changed(run.id, ({ decisions }) => decisions !== undefined)).toMatchObject({
      decisions: [denied],
    });
    await answer("call_c", "always");
    const { decisions } = await scene.ended(run.id);
    expect(decisions?.map(({ tool_call_id, decision }) => [tool_call_id, decision])).toEqual([
      ["call_b", "deny"],
      ["call_a", "always"],
      ["call_c", "always"],
    ]);
    await stage.restart();
    scene = await stage.again(scene);
    expect((await scene.getRun(run.id)).decisions).toEqual(decisions);
    const { data } = await scene.wire.result("run/list", { workspace_id: scene.workspace_id, thread_id: id });
    expect(data[0]?.decisions).toEqual(decisions);
    await verifyAll(scene);
  });

  test("[RUN122] how long a thought took stands with the message, also when a restart lies between", async () => {
    let scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "asker" });
    const asks = calls("risky_work", { what: "now" }).steps;
    playByAgent(scene.model, {
      asker: [
        { steps: [{ text: "Hm." }, { thinking: "Shall I?" }, { gate: "thought" }, ...asks] },
        { steps: [{ thinking: "It is done." }, { text: "Done." }] },
      ],
    });
    await scene.wire.result("subscribe", { workspace_id: scene.workspace_id, thread_id: id });
    const { run } = await scene.startRun(id, "go");
    const isThinking = () =>
      scene.wire.notifications("run/delta").some(({ params }) => params.kind === "thinking");
    await expect.poll(isThinking).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 120));
    scene.model.open("thought");
    await scene.changed(run.id, ({ status }) => status === "waiting");
    await stage.restart();
    scene = await stage.again(scene);
    await scene.wire.result("run/approve", { run_id: run.id, tool_call_id: "call_1", decision: "allow" });
    await scene.ended(run.id);
    const [, said] = await scene.messages(id);
    const { thinkingMs } = (said?.heddle ?? {}) as { thinkingMs: Record<string, number> };
    expect(said?.content.map(({ type }) => type)).toEqual([
      "text",
      "thinking",
      "tool_call_ref",
      "thinking",
      "text",
    ]);
    expect(Object.keys(thinkingMs)).toEqual(["1", "3"]);
    expect(thinkingMs["1"]).toBeGreaterThanOrEqual(100);
    expect(thinkingMs["1"]).toBeLessThan(10_000);
    expect(thinkingMs["3"]).toBeLessThan(thinkingMs["1"] as number);
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
