import { expect, test } from "vitest";
import { agentNamed, answerTo, playByAgent, requestsOf } from "../support/agents.js";
import { atRest, delegates, delegationConfig, runsOf, saysAfter } from "../support/delegation.js";
import { type Deed, doer, doing } from "../support/programs.js";
import { calls, runStage, verifyAll } from "../support/runs.js";
import { onEachStore } from "../support/stores.js";

const MOST_BYTES = 64 * 1024;

onEachStore("delegation", (kind) => {
  const stage = runStage(kind, { config: delegationConfig(["general", "notes", "other", "third"]) });

  test("[DEL1] a sync call waits for the answer and gets it with everything 002 lists", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    playByAgent(scene.model, {
      general: [delegates({ agentId: "notes", content: "note this" }), "done"],
      notes: [calls("system_time"), "noted"],
    });
    const run = await scene.answered(id, "go");
    const [child] = await runsOf(scene, "notes");
    expect(answerTo(scene.model, "general")).toEqual({
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
    expect(child).toMatchObject({ parent_run_id: run.id, status: "completed" });
  });

  test("[DEL2] the target's message says who sent it, its run where it comes from, and the tree of a delegation is listed", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    playByAgent(scene.model, {
      general: [delegates({ agentId: "notes", content: "note this" }), "done"],
      notes: ["noted"],
    });
    const run = await scene.answered(id, "go");
    const [child] = await runsOf(scene, "notes");
    expect(child?.origin).toEqual({
      kind: "delegated",
      mode: "sync",
      run_id: run.id,
      thread_id: id,
      agent_id: "general",
      depth: 1,
      hops: 0,
    });
    const [asked, said] = await scene.messages(child?.thread_id as string);
    expect(asked).toMatchObject({
      role: "user",
      content: [{ type: "text", text: "note this" }],
      heddle: { from: { kind: "delegated", agentId: "general", threadId: id, runId: run.id } },
    });
    expect(said).toMatchObject({ role: "agent", content: [{ type: "text", text: "noted" }] });
    const { workspace_id } = scene;
    const tree = await scene.wire.result("run/list", { workspace_id, tree_of: run.id });
    expect(tree.data.map(({ agent_id }) => agent_id)).toEqual(["general", "notes"]);
    await verifyAll(scene);
  });

  test("[DEL3] the target works with its own prompt and its own tools, and the caller gets what it thought and called", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    const two = ["call_1", "call_2"].map((call) => ({
      tool_call: { id: call, name: "system_time", arguments: "{}" },
    }));
    playByAgent(scene.model, {
      general: [delegates({ agentId: "notes", content: "think" }), "done"],
      notes: [
        { steps: [{ thinking: "First the time." }, { text: "One moment. " }, ...two] },
        { steps: [{ thinking: "Now I know." }, { text: "It is late." }] },
      ],
    });
    await scene.answered(id, "go");
    const call = { name: "system_time", durationMs: expect.any(Number) };
    expect(answerTo(scene.model, "general")).toMatchObject({
      response: "It is late.",
      thinkingText: "First the time.\nNow I know.",
      toolCallCount: 2,
      toolCalls: [call, call],
    });
    expect(JSON.stringify(requestsOf(scene.model, "notes")[0]?.messages[0])).toContain("The notes agent.");
  });

  test("[DEL4] a response is cut at 64 KiB, on a character, and what comes back is whole JSON all the same", async () => {
    const scene = await stage.scene();
    const ask = async (text: string) => {
      const { id } = await scene.start({ agent_id: "general" });
      playByAgent(scene.model, {
        general: [delegates({ agentId: "notes", content: "much", session: "create" }), "done"],
        notes: [text],
      });
      await scene.answered(id, "go");
      return answerTo(scene.model, "general") as { response: string; truncated?: boolean };
    };
    const long = `a${"€".repeat(30_000)}`;
    const cut = await ask(long);
    expect(cut.truncated).toBe(true);
    expect(long.startsWith(cut.response)).toBe(true);
    expect(Buffer.byteLength(cut.response)).toBeGreaterThan(MOST_BYTES - 3);
    expect(Buffer.byteLength(cut.response)).toBeLessThanOrEqual(MOST_BYTES);
    // Each of these takes more in JSON than in the text.
    const escaped = '"\n\u0001'.repeat(30_000);
    expect(await ask(escaped)).toMatchObject({ truncated: true, response: escaped.slice(0, MOST_BYTES) });
    const most = "m".repeat(MOST_BYTES);
    const whole = await ask(most);
    expect(whole.response).toBe(most);
    expect(whole.truncated).toBeUndefined();
  });

  test("[DEL5] several calls of one step run side by side, and are answered in the order they were made", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    const gate = `side by side ${kind.name}`;
    const all = ["notes", "other", "third"];
    playByAgent(scene.model, {
      general: [delegates(...all.map((agentId) => ({ agentId, content: "all at once" }))), "done"],
      ...Object.fromEntries(all.map((agentId) => [agentId, [saysAfter(gate, `from ${agentId}`)]])),
    });
    const { run } = await scene.startRun(id, "go");
    // Nobody is answered before all three have asked.
    await scene.model.request(3);
    scene.model.open(gate);
    await scene.ended(run.id);
    const answers = [1, 2, 3].map((at) => answerTo(scene.model, "general", `call_${at}`));
    expect(answers).toMatchObject(all.map((agentId) => ({ agentId, response: `from ${agentId}` })));
    await atRest(scene);
  });

  test("[DEL6] wrong arguments are refused with what is wrong, and nothing is sent", async () => {
    const scene = await stage.scene();
    const wrong: [object, RegExp][] = [
      [{ agentId: "notes" }, /content/],
      [{ agentId: "notes", content: " \n" }, /content.*empty/],
      [{ agentId: "notes", content: "x", mode: "later" }, /mode/],
      [{ agentId: "notes", content: "x", timeout: 0 }, /timeout/],
      [{ agentId: "notes", content: "x", timeout: 1e9 }, /timeout/],
      [{ agentId: "notes", content: "x", session: "" }, /session/],
      [{ agentId: "notes", content: "x", session: "\u0000" }, /session.*NUL/],
      [{ agentId: "notes", content: "x\u0000" }, /content.*NUL/],
      [{ agentId: "notes", content: "x", agent: "y" }, /agent/],
    ];
    for (const [given, why] of wrong) {
      const { id } = await scene.start({ agent_id: "general" });
      playByAgent(scene.model, { general: [calls("agents_message", given), "as you like"] });
      await scene.answered(id, "go");
      expect(String(answerTo(scene.model, "general"))).toMatch(why);
    }
    expect(await runsOf(scene, "notes")).toEqual([]);
  });
});

onEachStore("delegation to a program", (kind) => {
  const program = doer();
  const stage = runStage(kind, {
    config: (url) => ({
      ...delegationConfig([])(url),
      agents: [agentNamed(url, "general"), program.agent("doer")],
    }),
  });

  /** What `agents_message` answers when the program does this. */
  async function answerOf(...deeds: readonly Deed[]): Promise<unknown> {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "general" });
    const content = doing(...deeds);
    playByAgent(scene.model, { general: [delegates({ agentId: "doer", content }), "done"] });
    await scene.answered(id, "go");
    return answerTo(scene.model, "general");
  }
  const called = (name: string) => ({ name, durationMs: expect.any(Number) });

  test("[DEL3] what a program thought and called by itself comes with what it said last", async () => {
    const answer = await answerOf(
      { think: "First I look." },
      { say: "One moment. " },
      { tool: "read", input: { at: 1 }, output: "seen" },
      { tool: "edit", input: { path: "a.txt" }, output: "edited" },
      { think: "Now I know." },
      { say: "It is done." },
    );
    expect(answer).toMatchObject({
      status: "complete",
      response: "It is done.",
      thinkingText: "First I look.\nNow I know.",
      toolCallCount: 2,
      toolCalls: [called("read"), called("edit")],
    });
  });

  test("[DEL3] a program whose last act is a tool is answered with what it said before", async () => {
    const answer = await answerOf(
      { say: "Too early. " },
      { tool: "read", input: { at: 1 }, output: "seen" },
      { say: "I write it down." },
      { tool: "edit", input: { path: "a.txt" }, output: "edited" },
      { tool: "read", input: { at: 2 }, output: "seen" },
    );
    expect(answer).toMatchObject({ response: "I write it down.", toolCallCount: 3 });
    expect(await answerOf({ tool: "read", input: {}, output: "seen" })).toMatchObject({
      response: "",
      toolCallCount: 1,
    });
  });

  test("[DEL3] however much a program did, all calls are counted, the first are listed, and thoughts are cut", async () => {
    const rounds = Array.from({ length: 210 }, (_, at) => [
      { think: `${at} ${"thought ".repeat(50)}` },
      { tool: "read", input: { at }, output: "seen" },
    ]);
    const answer = (await answerOf({ say: "I begin." }, ...rounds.flat())) as Record<string, unknown>;
    expect(answer).toMatchObject({ response: "I begin.", toolCallCount: 210 });
    expect(answer.toolCalls).toEqual(Array(200).fill(called("read")));
    expect(answer.thinkingText).toMatch(/^0 thought .*\n1 thought /);
    expect(Buffer.byteLength(String(answer.thinkingText))).toBe(16 * 1024);
  });
});
