import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tools/index.js";
import { agentNamed, playByAgent, requestsOf, waitingFor } from "../support/agents.js";
import { heldTool } from "../support/held-tool.js";
import { calls, runStage } from "../support/runs.js";
import { onEitherStore } from "../support/stores.js";
import { Wire } from "../support/wire.js";

const made: string[] = [];
const risky = defineTool({
  name: "risky_work",
  description: "Does something that somebody should know of.",
  parameters: z.strictObject({ what: z.string() }),
  capabilities: ["risky"],
  safeToRepeat: false,
  asks: true,
  run: ({ what }) => {
    made.push(what);
    return { status: "completed" as const, output: `did ${what}` };
  },
});
const held = heldTool("held_work");

const config = (url: string) => ({
  agents: [
    agentNamed(url, "asker"),
    agentNamed(url, "free", { toolApprovals: { allow: ["risky_*"] } }),
    agentNamed(url, "strict", { toolApprovals: { deny: ["risky_*"], ask: ["held_work"] } }),
    agentNamed(url, "both", { toolApprovals: { allow: ["*"], ask: ["held_work"] } }),
  ],
});
const options = { tools: [risky, held.tool] };

onEitherStore("approvals", (kind) => {
  const stage = runStage(kind, { config, options });
  beforeEach(() => {
    made.length = 0;
  });

  test("[APR1] a call that needs somebody's word makes the run wait, visibly, until it is allowed", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "asker" });
    playByAgent(scene.model, { asker: [calls("risky_work", { what: "one" }), "done"] });
    const { run } = await scene.startRun(id, "go");
    const waiting = await scene.changed(run.id, ({ status }) => status === "waiting");
    expect(waiting.approvals).toMatchObject([
      {
        run_id: run.id,
        thread_id: id,
        agent_id: "asker",
        tool_call_id: "call_1",
        name: "risky_work",
        arguments: '{"what":"one"}',
      },
    ]);
    expect((await scene.get(id)).status).toBe("waiting");
    expect(made).not.toContain("one");
    const { run: now } = await scene.wire.result("run/approve", {
      run_id: run.id,
      tool_call_id: "call_1",
      decision: "allow",
    });
    expect(["running", "completed"]).toContain(now.status);
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
    expect(made.filter((what) => what === "one")).toHaveLength(1);
    expect((await scene.getRun(run.id)).approvals).toBeUndefined();
    expect(requestsOf(scene.model, "asker").at(-1)?.messages.at(-1)).toMatchObject({
      role: "tool",
      content: "did one",
    });
  });

  test("[APR2] a call that is not allowed is not made, and the model is told so", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "asker" });
    playByAgent(scene.model, { asker: [calls("risky_work", { what: "never" }), "as you like"] });
    const { run } = await scene.startRun(id, "go");
    await scene.changed(run.id, ({ status }) => status === "waiting");
    await scene.wire.result("run/approve", { run_id: run.id, tool_call_id: "call_1", decision: "deny" });
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
    expect(made).not.toContain("never");
    expect(String(requestsOf(scene.model, "asker").at(-1)?.messages.at(-1)?.content)).toMatch(
      /did not allow/,
    );
    const { data } = await scene.wire.result("thread/messages", { thread_id: id, order: "asc" });
    expect(data.at(-1)).toMatchObject({ toolCalls: [{ name: "risky_work", status: "failed" }] });
  });

  test("[APR3] always holds for that tool in that thread only, is told of, and can be taken back", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "asker" });
    const { id: other } = await scene.start({ agent_id: "asker" });
    const ask = (what: string) => [calls("risky_work", { what }), "done"];
    playByAgent(scene.model, { asker: ask("first") });
    const { run } = await scene.startRun(id, "go");
    await scene.changed(run.id, ({ status }) => status === "waiting");
    await scene.wire.result("run/approve", { run_id: run.id, tool_call_id: "call_1", decision: "always" });
    await scene.ended(run.id);
    expect((await scene.get(id)).granted_tools).toEqual(["risky_work"]);
    playByAgent(scene.model, { asker: ask("second") });
    await scene.answered(id, "again");
    expect(made).toContain("second");
    playByAgent(scene.model, { asker: ask("third") });
    const elsewhere = await scene.startRun(other, "go");
    const waiting = await scene.changed(elsewhere.run.id, ({ status }) => status === "waiting");
    expect(waitingFor(waiting)).toEqual(["risky_work"]);
    await scene.wire.result("run/cancel", { run_id: elsewhere.run.id });
    expect(made).not.toContain("third");
    const { thread } = await scene.wire.result("thread/update", {
      thread_id: id,
      granted_tools: ["more_work"],
    });
    expect(thread.granted_tools).toBeUndefined();
    playByAgent(scene.model, { asker: ask("fourth") });
    const last = await scene.startRun(id, "once more");
    await scene.changed(last.run.id, ({ status }) => status === "waiting");
    await scene.wire.result("run/cancel", { run_id: last.run.id });
    expect(made).not.toContain("fourth");
  });

  test("[APR4] what an agent's toolApprovals allow runs at once, what they deny is not offered, and asking wins over allowing", async () => {
    const scene = await stage.scene();
    const free = await scene.start({ agent_id: "free" });
    playByAgent(scene.model, { free: [calls("risky_work", { what: "free" }), "done"] });
    await scene.answered(free.id, "go");
    expect(made).toContain("free");
    const strict = await scene.start({ agent_id: "strict" });
    playByAgent(scene.model, { strict: [calls("risky_work", { what: "denied" }), "done"] });
    const run = await scene.answered(strict.id, "go");
    expect(made).not.toContain("denied");
    expect(requestsOf(scene.model, "strict")[0]?.tools?.map((tool) => tool.function.name)).not.toContain(
      "risky_work",
    );
    const { tools } = await scene.manifest(run.id);
    expect(tools).toContainEqual({
      name: "risky_work",
      offered: false,
      reason: "in the agent's toolApprovals.deny (risky_*)",
    });
    const { workspace_id } = scene;
    const both = await scene.start({ agent_id: "both" });
    const listed = await scene.wire.result("tool/list", { workspace_id, thread_id: both.id });
    expect(listed.data.find(({ name }) => name === "held_work")?.approval).toBe("ask");
    expect(listed.data.find(({ name }) => name === "risky_work")?.approval).toBe("allow");
  });

  test("[APR5] a call that is allowed while another is at work begins at once", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "asker" });
    const two = [
      { tool_call: { id: "call_1", name: "held_work", arguments: '{"words":"slow"}' } },
      { tool_call: { id: "call_2", name: "risky_work", arguments: '{"what":"meanwhile"}' } },
    ];
    playByAgent(scene.model, { asker: [{ steps: two }, "done"] });
    const { run } = await scene.startRun(id, "go");
    await scene.changed(run.id, ({ status }) => status === "waiting");
    await expect.poll(() => held.begun).toContain("slow");
    await scene.wire.result("run/approve", { run_id: run.id, tool_call_id: "call_2", decision: "allow" });
    await expect.poll(() => made).toContain("meanwhile");
    expect((await scene.getRun(run.id)).status).toBe("running");
    held.release("slow");
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
    const messages = requestsOf(scene.model, "asker").at(-1)?.messages.slice(-2);
    expect(messages?.map(({ tool_call_id }) => tool_call_id)).toEqual(["call_1", "call_2"]);
  });

  test("[APR6] only what waits can be answered, and only once", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "asker" });
    playByAgent(scene.model, { asker: [calls("risky_work", { what: "once" }), "done"] });
    const { run } = await scene.startRun(id, "go");
    await scene.changed(run.id, ({ status }) => status === "waiting");
    const answer = (params: object) =>
      scene.wire.error("run/approve", {
        run_id: run.id,
        tool_call_id: "call_1",
        decision: "allow",
        ...params,
      } as never);
    expect(await answer({ tool_call_id: "call_9" })).toMatchObject({
      code: -32600,
      data: { kind: "run.not_asking" },
    });
    expect(await answer({ decision: "perhaps" })).toMatchObject({ code: -32602 });
    const both = await Promise.allSettled(
      ["allow", "deny"].map((decision) =>
        scene.wire.result("run/approve", {
          run_id: run.id,
          tool_call_id: "call_1",
          decision: decision as "allow",
        }),
      ),
    );
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    await scene.ended(run.id);
    expect(await answer({})).toMatchObject({ data: { kind: "run.not_asking", status: "completed" } });
  });

  test("[APR11] an answer to one call is never taken for another's, though a server numbers calls anew in each answer", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "asker" });
    const same = (what: string) => calls("risky_work", { what }, "call_0");
    playByAgent(scene.model, { asker: [same("good"), same("evil"), "done"] });
    const { run } = await scene.startRun(id, "go");
    await scene.changed(run.id, ({ status }) => status === "waiting");
    const allow = { run_id: run.id, tool_call_id: "call_0", decision: "allow" as const };
    await scene.wire.result("run/approve", allow);
    const again = await scene.changed(run.id, ({ approvals = [] }) =>
      approvals.some(({ tool_call_id }) => tool_call_id !== "call_0"),
    );
    expect(again.approvals).toMatchObject([{ tool_call_id: "call_0_2", arguments: '{"what":"evil"}' }]);
    expect(await scene.wire.error("run/approve", allow)).toMatchObject({ data: { kind: "run.not_asking" } });
    await scene.wire.result("run/approve", { ...allow, tool_call_id: "call_0_2", decision: "deny" });
    await scene.ended(run.id);
    expect(made).toEqual(["good"]);
    const ids = requestsOf(scene.model, "asker")
      .at(-1)
      ?.messages.flatMap(({ tool_call_id }) => tool_call_id ?? []);
    expect(ids).toEqual(["call_0", "call_0_2"]);
  });

  test("[APR12] always answers every call of that tool that waits in the run, and no other tool's", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "asker" });
    const call = (at: number) => ({
      tool_call: { id: `c${at}`, name: "risky_work", arguments: `{"what":"w${at}"}` },
    });
    playByAgent(scene.model, { asker: [{ steps: [call(1), call(2), call(3)] }, "done"] });
    const { run } = await scene.startRun(id, "go");
    await scene.changed(run.id, ({ approvals = [] }) => approvals.length === 3);
    await scene.wire.result("run/approve", { run_id: run.id, tool_call_id: "c2", decision: "always" });
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
    expect([...made].sort()).toEqual(["w1", "w2", "w3"]);
  });

  test("[APR13] a call that nobody allowed before the run ended is told as not made", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "asker" });
    playByAgent(scene.model, { asker: [calls("risky_work", { what: "no" }), "I see"] });
    const { run } = await scene.startRun(id, "go");
    await scene.changed(run.id, ({ status }) => status === "waiting");
    await scene.wire.result("run/cancel", { run_id: run.id });
    await scene.answered(id, "what happened?");
    const told = requestsOf(scene.model, "asker")
      .at(-1)
      ?.messages.find(({ role }) => role === "tool");
    expect(String(told?.content)).toMatch(/allowed this call. It was not made/);
  });

  test("[APR14] a stop keeps what was asked also where another call of the step is at work; that one is interrupted", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "asker" });
    const two = [
      { tool_call: { id: "slow", name: "held_work", arguments: '{"words":"never ends"}' } },
      { tool_call: { id: "asked", name: "risky_work", arguments: '{"what":"kept"}' } },
    ];
    playByAgent(scene.model, { asker: [{ steps: two }, "done"] });
    const { run } = await scene.startRun(id, "go");
    await scene.changed(run.id, ({ status }) => status === "waiting");
    await expect.poll(() => held.begun).toContain("never ends");
    await stage.restart();
    const again = await stage.again(scene);
    expect(await again.getRun(run.id)).toMatchObject({
      status: "waiting",
      approvals: [{ tool_call_id: "asked" }],
    });
    await again.wire.result("run/approve", { run_id: run.id, tool_call_id: "asked", decision: "allow" });
    expect(await again.ended(run.id)).toMatchObject({ status: "completed" });
    expect(made).toEqual(["kept"]);
    const told = requestsOf(again.model, "asker")
      .at(-1)
      ?.messages.filter(({ role }) => role === "tool");
    expect(told?.map(({ content }) => String(content))).toEqual([
      expect.stringMatching(/^Interrupted/),
      "did kept",
    ]);
  });

  test("[APR15] a gateway that is stopping takes no answers, and what waits is there for the next one", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "asker" });
    const { id: busy } = await scene.start({ agent_id: "free" });
    playByAgent(scene.model, {
      asker: [calls("risky_work", { what: "late" }), "done"],
      free: [calls("held_work", { words: "holds up the stop" })],
    });
    const { run } = await scene.startRun(id, "go");
    await scene.changed(run.id, ({ status }) => status === "waiting");
    await scene.startRun(busy, "go");
    await expect.poll(() => held.begun).toContain("holds up the stop");
    const { url, token } = stage.gateway();
    const other = await Wire.open(url, token);
    const restarting = stage.restart();
    await new Promise((resolve) => setTimeout(resolve, 100));
    const answer = { run_id: run.id, tool_call_id: "call_1", decision: "allow" };
    expect(await other.error("run/approve", answer)).toMatchObject({ code: -32001 });
    expect(await other.error("run/steer", { run_id: run.id, content: "hurry" })).toMatchObject({
      code: -32001,
    });
    await restarting;
    other.close();
    const again = await stage.again(scene);
    expect(await again.getRun(run.id)).toMatchObject({ status: "waiting" });
    await again.wire.result("run/cancel", { run_id: run.id });
    expect(made).toEqual([]);
  });

  test("[APR7] what waits survives a stop and a restart, and another client answers it", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "asker" });
    playByAgent(scene.model, { asker: [calls("risky_work", { what: "later" }), "done after all"] });
    const { run } = await scene.startRun(id, "go");
    await scene.changed(run.id, ({ status }) => status === "waiting");
    await stage.restart();
    const again = await stage.again(scene);
    expect(await again.getRun(run.id)).toMatchObject({
      status: "waiting",
      approvals: [{ name: "risky_work" }],
    });
    expect((await again.get(id)).status).toBe("waiting");
    await again.wire.result("run/approve", { run_id: run.id, tool_call_id: "call_1", decision: "allow" });
    expect(await again.ended(run.id)).toMatchObject({ status: "completed" });
    expect(made.filter((what) => what === "later")).toHaveLength(1);
  });

  test("[APR8] a run that waits can be steered and cancelled", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "asker" });
    playByAgent(scene.model, { asker: [calls("risky_work", { what: "steered" }), "done"] });
    const { run } = await scene.startRun(id, "go");
    await scene.changed(run.id, ({ status }) => status === "waiting");
    await scene.wire.result("run/steer", { run_id: run.id, content: "and hurry" });
    expect((await scene.getRun(run.id)).status).toBe("waiting");
    await scene.wire.result("run/approve", { run_id: run.id, tool_call_id: "call_1", decision: "allow" });
    await scene.ended(run.id);
    expect(requestsOf(scene.model, "asker").at(-1)?.messages.at(-1)).toMatchObject({
      role: "user",
      content: "and hurry",
    });
    playByAgent(scene.model, { asker: [calls("risky_work", { what: "cancelled" })] });
    const second = await scene.startRun(id, "again");
    await scene.changed(second.run.id, ({ status }) => status === "waiting");
    const { run: ended } = await scene.wire.result("run/cancel", { run_id: second.run.id });
    expect(ended).toMatchObject({ status: "cancelled" });
    expect(ended.approvals).toBeUndefined();
    expect((await scene.get(id)).status).toBe("idle");
    playByAgent(scene.model, { asker: ["all is well"] });
    await scene.answered(id, "still there?");
  });
});
