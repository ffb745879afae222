import { describe, expect, test } from "vitest";
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
import { calls, type RunScene, runStage } from "../support/runs.js";
import { Wire } from "../support/wire.js";

const to = (agentId: string, more: object = {}) => delegates({ agentId, content: `for ${agentId}`, ...more });

/** One agent is asked by a person, what it tries is played, and it is told what came of it. */
async function tries(scene: RunScene, scripts: Parameters<typeof playByAgent>[1], agent_id = "a") {
  const { id } = await scene.start({ agent_id });
  playByAgent(scene.model, scripts);
  scene.model.forget();
  await scene.answered(id, "go");
  return id;
}

describe("how far delegation goes", () => {
  const four = ["a", "b", "c", "d"];
  const once = runStage(undefined, { config: delegationConfig(four) });
  const never = runStage(undefined, {
    config: delegationConfig(four, { limits: { maxDelegationDepth: 0 } }),
  });
  const thrice = runStage(undefined, {
    config: delegationConfig(four, { limits: { maxDelegationDepth: 3 } }),
  });
  const twice = runStage(undefined, {
    config: delegationConfig(four, { limits: { maxDelegationDepth: 2, maxDelegationHops: 2 } }),
  });

  test("[DEL40] without another limit an agent that was asked by an agent asks nobody, in either mode", async () => {
    const scene = await once.scene();
    await tries(scene, {
      a: [to("b"), "done"],
      b: [
        delegates({ agentId: "c", content: "on" }, { agentId: "d", content: "on", mode: "async" }),
        "I can't",
      ],
    });
    for (const call of ["call_1", "call_2"])
      expect(answerTo(scene.model, "b", call)).toBe(
        "You can't delegate any further: limits.maxDelegationDepth is 1, and you were asked by another agent yourself. Do it with your own tools, or say in your answer what is left to do.",
      );
    expect(answerTo(scene.model, "a")).toMatchObject({ status: "complete", response: "I can't" });
    expect((await scene.runs()).map(({ agent_id }) => agent_id).sort()).toEqual(["a", "b"]);
  });

  test("[DEL40] a depth of 0 lets nobody delegate, one of 2 lets those delegate who were asked by one that a person asked", async () => {
    const none = await never.scene();
    await tries(none, { a: [to("b"), "alone then"] });
    expect(String(answerTo(none.model, "a"))).toMatch(/^You can't delegate here: .*maxDelegationDepth is 0/);
    expect(await runsOf(none, "b")).toEqual([]);
    const scene = await twice.scene();
    await tries(scene, { a: [to("b"), "done"], b: [to("c"), "from c"], c: [to("d"), "myself"] });
    expect(String(answerTo(scene.model, "c"))).toMatch(/maxDelegationDepth is 2/);
    expect(answerTo(scene.model, "b")).toMatchObject({ status: "complete", response: "myself" });
    const depths = (await scene.runs()).map(({ origin }) => origin?.depth ?? 0);
    expect(depths.sort()).toEqual([0, 1, 2]);
  });

  test("[DEL41] a chain of results that delegates each time ends after maxDelegationHops, and says so", async () => {
    const scene = await twice.scene();
    const { id } = await scene.start({ agent_id: "a" });
    const background = to("b", { mode: "async" });
    playByAgent(scene.model, {
      a: [background, "one", background, "two", background, "that was it"],
      b: [saysAfter("hop 1", "first"), saysAfter("hop 2", "second"), "third"],
    });
    // One that comes back before a run has ended is given to that run.
    await scene.answered(id, "go");
    scene.model.open("hop 1");
    await returnedTo(scene, id, 1);
    scene.model.open("hop 2");
    const returned = await returnedTo(scene, id, 2);
    expect(returned.map(({ origin }) => origin?.hops)).toEqual([1, 2]);
    expect(String(answerTo(scene.model, "a"))).toMatch(
      /^You can't delegate any more here: 2 results have come back .*maxDelegationHops is 2/,
    );
    expect(await runsOf(scene, "b")).toHaveLength(2);
    await atRest(scene);
    // Somebody who asks again begins anew.
    playByAgent(scene.model, { a: [to("b"), "done"], b: ["again"] });
    await scene.answered(id, "once more");
    expect(answerTo(scene.model, "a")).toMatchObject({ status: "complete" });
  });

  test("[DEL41] a result that is given to a run at work counts for what that run delegates", async () => {
    const scene = await twice.scene();
    const { id } = await scene.start({ agent_id: "a" });
    const background = to("b", { mode: "async" });
    const gates = [1, 2].map((at) => `hops ${at}`);
    playByAgent(scene.model, {
      a: [
        background,
        { steps: [{ gate: gates[0] as string }, { text: "1" }] },
        background,
        { steps: [{ gate: gates[1] as string }, { text: "2" }] },
        background,
        "that was it",
      ],
      b: ["first", "second", "third"],
    });
    const { run } = await scene.startRun(id, "go");
    for (const [at, gate] of gates.entries()) {
      await reached(async () =>
        expect((await scene.journal(run.id)).filter(({ type }) => type === "run.steered")).toHaveLength(
          at + 1,
        ),
      );
      scene.model.open(gate);
    }
    await scene.ended(run.id);
    expect(String(answerTo(scene.model, "a"))).toMatch(/maxDelegationHops is 2/);
    expect(await runsOf(scene, "b")).toHaveLength(2);
  });

  test("[DEL42] whoever waits above is not asked, however many stand between; nor is an agent by itself", async () => {
    const scene = await thrice.scene();
    await tries(scene, {
      a: [delegates({ agentId: "a", content: "me" }, { agentId: "b", content: "on" }), "done"],
      b: [to("c"), "from c"],
      c: [
        delegates(
          { agentId: "a", content: "back", session: "create" },
          { agentId: "b", content: "back", mode: "async" },
          { agentId: "d", content: "fine" },
        ),
        "as far as it goes",
      ],
      d: ["fine"],
    });
    expect(answerTo(scene.model, "a", "call_1")).toBe(
      "You can't delegate to yourself. Do it with your own tools.",
    );
    expect(String(answerTo(scene.model, "c", "call_1"))).toMatch(/waits for you.*\(a → b → c → a\)/);
    expect(String(answerTo(scene.model, "c", "call_2"))).toMatch(/waits for you.*\(a → b → c → b\)/);
    expect(answerTo(scene.model, "c", "call_3")).toMatchObject({ status: "complete" });
    expect((await scene.runs()).map(({ agent_id }) => agent_id).sort()).toEqual(four);
  });
});

describe("whom an agent may ask", () => {
  const agents = {
    hidden: { uiVisible: false },
    picky: { agentAllowlist: ["no*", "hidden"] },
    wary: { agentDenylist: ["no*"] },
    closed: { agentAllowlist: [] },
    keyless: { chat: { provider: "openai", model: "gpt-5" } },
  };
  const ids = ["wary", "picky", "notes", "hidden", "keyless", "closed"];
  const stage = runStage(undefined, { config: delegationConfig(ids, { agents }) });

  test.each([
    [
      "picky",
      "hidden",
      /^You can't delegate to "hidden": there is no such agent\. You can delegate to: notes\.$/,
    ],
    ["picky", "missing", /^You can't delegate to "missing": there is no such agent\./],
    ["picky", "wary", /^You can't delegate to "wary": it is not in your agentAllowlist\./],
    [
      "wary",
      "notes",
      /^You can't delegate to "notes": it is in your agentDenylist\. You can delegate to: closed, keyless, picky\.$/,
    ],
    ["wary", "__proto__", /no such agent/],
    ["closed", "notes", /not in your agentAllowlist\. There is nobody you can delegate to\.$/],
    ["wary", "keyless", /^"keyless" can't be asked now\. \S/],
  ])("[DEL43] %s does not get to ask %s, is told why, and nothing is made", async (from, target, why) => {
    const scene = await stage.scene();
    await tries(scene, { [from]: [to(target), "I see"] }, from);
    expect(String(answerTo(scene.model, from))).toMatch(why);
    expect((await scene.runs()).map(({ agent_id }) => agent_id)).toEqual([from]);
    expect((await scene.tree()).threads.map(({ agent_id }) => agent_id)).toEqual([from]);
  });

  test("[DEL44] agents_list has those whom the caller may ask, by id, with whether they can be asked", async () => {
    const scene = await stage.scene();
    await tries(scene, { wary: [calls("agents_list"), "I see"] }, "wary");
    const listed = answerTo(scene.model, "wary") as { agents: Record<string, unknown>[] };
    expect(listed.agents.map(({ agentId }) => agentId)).toEqual(["closed", "keyless", "picky"]);
    expect(listed.agents[0]).toEqual({
      agentId: "closed",
      displayName: "CLOSED",
      description: "The closed agent.",
      available: true,
    });
    expect(listed.agents[1]).toMatchObject({ available: false, reason: expect.stringMatching(/\S/) });
    await tries(scene, { closed: [calls("agents_list"), "I see"] }, "closed");
    expect(answerTo(scene.model, "closed")).toEqual({ agents: [] });
    const { workspace_id } = scene;
    const { output } = await scene.wire.result("tool/call", {
      workspace_id,
      name: "agents_list",
      arguments: {},
    });
    const all = (JSON.parse(output) as typeof listed).agents.map(({ agentId }) => agentId);
    expect(all).toEqual(["closed", "keyless", "notes", "picky", "wary"]);
  });
});

describe("threads that wait for each other", () => {
  const stage = runStage(undefined, { config: delegationConfig(["a", "b", "c"]) });

  test("[DEL45] a call that would close a circle of waiting threads is refused at once; it is fine without waiting", async () => {
    const scene = await stage.scene();
    const [a, b] = await Promise.all(["a", "b"].map((agent_id) => scene.start({ agent_id })));
    const [first, second] = [a?.id as string, b?.id as string];
    playByAgent(scene.model, {
      a: [to("b", { session: second }), "a is done", "a answers b", "a is told"],
      b: [
        { steps: [{ gate: "two wait" }, ...to("a", { session: first }).steps] },
        to("a", { session: first, mode: "async" }),
        "b is done",
        "b answers a",
        "b is told",
      ],
    });
    const mine = await scene.startRun(second, "go");
    const { run } = await scene.startRun(first, "go");
    await childOf(scene, "b", "queued");
    scene.model.open("two wait");
    expect(await scene.ended(mine.run.id)).toMatchObject({ status: "completed" });
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
    const told = (await scene.messages(second)).flatMap(({ toolCalls }) => toolCalls ?? []);
    expect(told[0]?.output).toMatch(/^You can't wait for a in .*both would wait for ever\. Use mode "async"/);
    expect(JSON.parse(String(told[1]?.output))).toMatchObject({ status: "started" });
    await reached(async () =>
      expect((await askedIn(scene, second)).some((text) => text.startsWith("[agents_message] a"))).toBe(true),
    );
    await atRest(scene);
  });

  test("[DEL45] and so is one that would close a circle of three", async () => {
    const scene = await stage.scene();
    const ids = await Promise.all(
      ["a", "b", "c"].map(async (agent_id) => (await scene.start({ agent_id })).id),
    );
    const [a, b, c] = ids as [string, string, string];
    const held = (gate: string, agentId: string, session: string) => ({
      steps: [{ gate }, ...to(agentId, { session }).steps],
    });
    playByAgent(scene.model, {
      a: [held("three a", "b", b), "a is done", "a answers"],
      b: [held("three b", "c", c), "b is done", "b answers"],
      c: [held("three c", "a", a), "c is done", "c answers"],
    });
    const runs = await Promise.all(ids.map((id) => scene.startRun(id, "go")));
    scene.model.open("three a");
    await childOf(scene, "b", "queued");
    scene.model.open("three b");
    await childOf(scene, "c", "queued");
    scene.model.open("three c");
    for (const { run } of runs) expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
    const told = (await scene.messages(c)).flatMap(({ toolCalls }) => toolCalls ?? []);
    expect(told[0]?.output).toMatch(/^You can't wait for a in /);
    expect(answerTo(scene.model, "a")).toMatchObject({ status: "complete", response: "b answers" });
    await atRest(scene);
  });
});

describe("agents_message outside a run", () => {
  const stage = runStage(undefined, {
    config: delegationConfig(["a", "b"], { agents: { b: { agentDenylist: ["a"] } } }),
  });

  test("[DEL46] a person calls it in a thread as its agent, within that agent's limits, and results come back there", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const { id } = await scene.start({ agent_id: "a" });
    const call = (thread_id: string, args: object) =>
      scene.wire.result("tool/call", {
        workspace_id,
        thread_id,
        name: "agents_message",
        arguments: { ...args },
      });
    playByAgent(scene.model, { b: ["hello", "and later"], a: ["thanks"] });
    const sync = await call(id, { agentId: "b", content: "hi" });
    expect(sync.status).toBe("completed");
    const child = await childOf(scene, "b", "completed");
    expect(JSON.parse(sync.output)).toMatchObject({
      status: "complete",
      response: "hello",
      responseId: child.id,
    });
    expect(child.parent_run_id).toBeUndefined();
    expect(child.origin).toEqual({
      kind: "delegated",
      mode: "sync",
      thread_id: id,
      agent_id: "a",
      depth: 1,
      hops: 0,
    });
    const async = await call(id, { agentId: "b", content: "take your time", mode: "async" });
    expect(JSON.parse(async.output)).toMatchObject({ status: "started" });
    await returnedTo(scene, id);
    const { id: other } = await scene.start({ agent_id: "b" });
    expect(await call(other, { agentId: "a", content: "hi" })).toMatchObject({
      status: "failed",
      output: expect.stringContaining("agentDenylist"),
    });
  });

  test("[DEL38] whoever called and is gone gets the result in the thread: it is neither lost nor cancelled", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const { id } = await scene.start({ agent_id: "a" });
    playByAgent(scene.model, { b: [saysAfter("left", "here you are")], a: ["thanks"] });
    const other = await Wire.open(stage.gateway().url, stage.gateway().token);
    const given = { agentId: "b", content: "wait for it" };
    const params = { workspace_id, thread_id: id, name: "agents_message", arguments: given };
    other.result("tool/call", params).catch(() => {});
    await childOf(scene, "b", "running");
    await scene.model.request(0);
    other.close();
    await new Promise((resolve) => setTimeout(resolve, 100));
    scene.model.open("left");
    await returnedTo(scene, id);
    expect(JSON.stringify(requestsOf(scene.model, "a").at(-1)?.messages)).toContain("here you are");
  });

  test("[DEL48] a run hands on 64 tasks at most; what is refused leaves no thread behind", {
    timeout: 60_000,
  }, async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "a" });
    const task = { agentId: "b", content: "one of many", session: "create", mode: "async" as const };
    playByAgent(scene.model, { a: [delegates(...Array.from({ length: 66 }, () => task)), "enough"] });
    await scene.answered(id, "go");
    const last = requestsOf(scene.model, "a")
      .flatMap(({ messages }) => messages)
      .filter(({ role, content }) => role === "tool" && String(content).includes("64 tasks"));
    expect(new Set(last.map(({ tool_call_id }) => tool_call_id)).size).toBe(2);
    const children = (await scene.runs()).filter(({ parent_run_id }) => parent_run_id !== undefined);
    expect(children.filter(({ origin }) => origin?.kind === "delegated")).toHaveLength(64);
    const { threads } = await scene.wire.result("thread/tree", { workspace_id: scene.workspace_id });
    expect(threads.filter(({ agent_id }) => agent_id === "b")).toHaveLength(64);
    await atRest(scene);
  });

  test("[DEL48] what is known to be too much is refused before a thread is made for it", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "a" });
    const task = { agentId: "b", content: "one of many", mode: "async" as const };
    const more = { ...task, session: "create" };
    playByAgent(scene.model, {
      a: [delegates(...Array.from({ length: 64 }, () => task)), delegates(more), "enough"],
    });
    await scene.answered(id, "go");
    expect(String(answerTo(scene.model, "a"))).toContain("64 tasks");
    const made = scene.wire
      .notifications("thread/changed")
      .map(({ params }) => params.thread)
      .filter(({ agent_id }) => agent_id === "b");
    expect(new Set(made.map((thread) => thread.id)).size).toBe(1);
    await atRest(scene);
  });

  test("[DEL49] a key of a client's own can't stand for one of Heddle's", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "a" });
    for (const idempotency_key of ["returned:int_1", "int_1", "del_1"]) {
      const params = { thread_id: id, content: "hi", idempotency_key };
      expect(await scene.wire.error("run/start", params)).toMatchObject({ data: { kind: "invalid_params" } });
    }
  });

  test("[DEL47] without a thread there is nobody for a result to come back to: it is refused", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const params = { workspace_id, name: "agents_message", arguments: { agentId: "b", content: "hi" } };
    expect(await scene.wire.result("tool/call", params)).toMatchObject({
      status: "failed",
      output: "agents_message needs a thread to come back to. Call it within one.",
    });
    expect(await scene.runs()).toEqual([]);
  });
});
