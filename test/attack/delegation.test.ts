import { beforeEach, expect, test } from "vitest";
import { agentNamed, answerTo, playByAgent, waitingFor } from "../support/agents.js";
import { childOf, delegates, runsOf } from "../support/delegation.js";
import { post } from "../support/http.js";
import { type RunScene, runStage } from "../support/runs.js";
import { recorded, request, step, Traps } from "./support.js";

const traps = new Traps();
const stage = runStage(undefined, {
  config: (url) => ({
    plugins: {},
    limits: { maxDelegationDepth: 1 },
    agents: [
      agentNamed(url, "boss", { toolDenylist: ["open_door"], toolApprovals: { allow: ["*"] } }),
      agentNamed(url, "worker", { toolApprovals: { ask: ["open_safe"], allow: ["open_door"] } }),
      agentNamed(url, "clerk", { toolAllowlist: ["files_read"] }),
      agentNamed(url, "picky", { agentAllowlist: ["clerk", "hidden"], agentDenylist: ["clerk2"] }),
      agentNamed(url, "wary", { agentDenylist: ["work*"] }),
      agentNamed(url, "mute", { toolDenylist: ["agents_*"] }),
      agentNamed(url, "hidden", { uiVisible: false }),
    ],
  }),
  options: { tools: ["open_door", "open_safe"].map((name) => traps.tool(name)) },
});
beforeEach(() => void traps.sprung.splice(0));

async function goes(scene: RunScene, agent_id: string): Promise<string> {
  const { id } = await scene.start({ agent_id });
  await scene.answered(id, "go");
  return id;
}

test("[SCP40] whoever is asked does it with its own tools, and whoever asks gets none of them", async () => {
  const scene = await stage.scene();
  playByAgent(scene.model, {
    boss: [step(["open_door", { word: "mine" }]), delegates({ agentId: "worker", content: "open it" }), "ok"],
    worker: [step(["open_door", { word: "theirs" }]), "it is open"],
  });
  const id = await goes(scene, "boss");
  expect(traps.sprung).toEqual(["open_door theirs"]);
  expect(answerTo(scene.model, "boss")).toMatchObject({ status: "complete", response: "it is open" });
  expect(await recorded(scene, id)).toMatchObject([
    { name: "open_door", status: "failed" },
    { name: "agents_message", status: "completed" },
  ]);
  const [child] = await runsOf(scene, "worker");
  expect(await recorded(scene, child?.thread_id ?? "")).toMatchObject([
    { name: "open_door", status: "completed" },
  ]);
});

test("[SCP40] nobody lends its tools or its approvals to whom it asks", async () => {
  const scene = await stage.scene();
  playByAgent(scene.model, {
    boss: [
      delegates(
        { agentId: "clerk", content: "open the safe, I may" },
        { agentId: "worker", content: "you too" },
      ),
      "ok",
    ],
    clerk: [step(["open_safe", { word: "clerk" }], ["open_door", { word: "clerk" }]), "I can't"],
    worker: [step(["open_safe", { word: "worker" }]), "not allowed"],
  });
  const { id } = await scene.start({ agent_id: "boss" });
  const { run } = await scene.startRun(id, "go");
  const child = await childOf(scene, "worker", "waiting");
  expect(waitingFor(child)).toEqual(["open_safe"]);
  await scene.wire.result("run/approve", { run_id: child.id, tool_call_id: "call_0", decision: "deny" });
  await scene.ended(run.id);
  expect(traps.sprung).toEqual([]);
  const [clerk] = await runsOf(scene, "clerk");
  for (const { status, output } of await recorded(scene, clerk?.thread_id ?? "")) {
    expect([status, output]).toEqual(["failed", expect.stringContaining("toolAllowlist")]);
  }
});

test("[SCP41] no agent outside the lists is reached, by a model, a person or a command, in whichever spelling", async () => {
  const scene = await stage.scene();
  const { workspace_id } = scene;
  const { url } = stage.gateway();
  const cases = [
    ["picky", "worker", "agentAllowlist"],
    ["picky", "hidden", "no such agent"],
    ["picky", "Clerk", "no such agent"],
    ["picky", "clerk ", "no such agent"],
    ["picky", "*", "no such agent"],
    ["picky", "__proto__", "no such agent"],
    ["wary", "worker", "agentDenylist"],
    ["wary", "hidden", "no such agent"],
    ["wary", "wary", "yourself"],
    ["mute", "worker", "toolDenylist"],
  ] as const;
  for (const [from, agentId, why] of cases) {
    scene.model.forget();
    const asked = { agentId, content: "x" };
    playByAgent(scene.model, { [from]: [delegates(asked), "I see."] });
    const thread_id = await goes(scene, from);
    expect(String(answerTo(scene.model, from)), `${from} to ${agentId}`).toContain(why);
    expect((await recorded(scene, thread_id))[0]).toMatchObject({ name: "agents_message", status: "failed" });
    const call = { name: "agents_message", arguments: asked };
    const byPerson = await scene.wire.result("tool/call", { workspace_id, thread_id, ...call });
    expect(byPerson).toMatchObject({ status: "failed", output: expect.stringContaining(why) });
    const token = stage.gateway().app.gateway.access.issue({ workspace_id, thread_id });
    const { result } = JSON.parse((await post({ url, token }, request("tool/call", call))).text);
    expect(result).toMatchObject({ status: "failed", output: expect.stringContaining(why) });
  }
  for (const agent_id of ["worker", "hidden", "clerk"]) expect(await runsOf(scene, agent_id)).toEqual([]);
});

test("[SCP42] a message gets into no thread of another agent or workspace, nor into one that is gone", async () => {
  const [scene, elsewhere] = [await stage.scene(), await stage.scene()];
  const own = await scene.start({ agent_id: "clerk" });
  const far = await elsewhere.start({ agent_id: "worker" });
  const gone = await scene.start({ agent_id: "worker" });
  const { id: hidden } = await scene.start({ agent_id: "hidden" });
  await scene.wire.result("thread/delete", { thread_id: gone.id });
  const sessions = [own.id, far.id, gone.id, hidden, "thr_none", `../${far.id}`, "*", "x".repeat(300)];
  playByAgent(scene.model, {
    boss: [delegates(...sessions.map((session) => ({ agentId: "worker", content: "x", session }))), "I see."],
  });
  const id = await goes(scene, "boss");
  expect((await recorded(scene, id)).map(({ status }) => status)).toEqual(sessions.map(() => "failed"));
  for (const [at] of sessions.entries())
    expect(String(answerTo(scene.model, "boss", `call_${at + 1}`)), sessions[at]).not.toContain(scene.root);
  expect((await scene.runs()).map(({ agent_id }) => agent_id)).toEqual(["boss"]);
  expect(await elsewhere.runs()).toEqual([]);
  for (const thread_id of [own.id, hidden]) expect(await scene.messages(thread_id)).toEqual([]);
});

test("[SCP43] a command of a run that was delegated is no nearer to a person than the run", async () => {
  const scene = await stage.scene();
  const { workspace_id } = scene;
  playByAgent(scene.model, {
    boss: [delegates({ agentId: "worker", content: "on" }), "ok"],
    worker: [{ steps: [{ gate: "deeper" }, { text: "done" }] }],
  });
  const { id } = await scene.start({ agent_id: "boss" });
  const { run } = await scene.startRun(id, "go");
  const { thread_id } = await childOf(scene, "worker", "running");
  const { url } = stage.gateway();
  const token = stage.gateway().app.gateway.access.issue({ workspace_id, thread_id });
  for (const agentId of ["clerk", "boss"]) {
    const call = { name: "agents_message", arguments: { agentId, content: "x", mode: "async" } };
    const { result } = JSON.parse((await post({ url, token }, request("tool/call", call))).text);
    expect(result).toMatchObject({ status: "failed", output: expect.stringMatching(/can't delegate/) });
  }
  scene.model.open("deeper");
  await scene.ended(run.id);
  expect(await runsOf(scene, "clerk")).toEqual([]);
});
