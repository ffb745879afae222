import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "../support/gateway.js";
import { heldTool } from "../support/held-tool.js";
import { startModelServer } from "../support/model-server/server.js";
import { freshRepository } from "../support/repository.js";
import { agentAt, apis, calls, forEachApi, RunScene, runStage, says, verifyAll } from "../support/runs.js";
import { sqliteStore } from "../support/stores.js";
import { looks, projectDirectory, soon } from "../support/threads.js";

const held = heldTool();
const stage = runStage(sqliteStore, {
  options: { tools: [held.tool] },
  config: (url) => ({
    agents: [
      agentAt(url),
      agentAt(url, apis[0], { agentId: "nothing", toolAllowlist: [] }),
      agentAt(url, apis[0], { agentId: "denied", toolDenylist: ["files_*"] }),
      agentAt(url, apis[0], { agentId: "incapable", capabilityDenylist: ["held.*"] }),
    ],
  }),
});

const FILES = ["files_edit", "files_list", "files_read", "files_search", "files_write"];

interface Sent {
  readonly role: string;
  readonly content: string;
  readonly tool_call_id?: string;
}

/** What the tools answered, as the request with this number tells the model. */
async function results(scene: RunScene, index: number): Promise<Sent[]> {
  const { messages } = JSON.parse(await scene.received(index));
  return messages.filter(({ role }: Sent) => role === "tool");
}

async function offered(scene: RunScene, index: number): Promise<string[]> {
  const { tools = [] } = JSON.parse(await scene.received(index));
  return tools.map((tool: { function: { name: string } }) => tool.function.name);
}

test("[RUN50] a tool reads the workspace's files, and the model is told what they say", async () => {
  const scene = await stage.scene();
  scene.write("notes/today.md", "Buy milk.\nCall Ann.\n");
  const { id } = await scene.start();
  scene.plays(calls("files_read", { path: "notes/today.md" }), says("Milk."));
  const run = await scene.answered(id, "What is in my notes?");
  expect(run.steps).toBe(2);
  const [result] = await results(scene, 1);
  expect(result).toMatchObject({ tool_call_id: "call_1", content: expect.stringContaining("Call Ann.") });
  expect((await scene.messages(id))[1]).toMatchObject({
    content: [{ type: "tool_call_ref", toolCallId: "call_1", step: 1 }, { text: "Milk." }],
    toolCalls: [{ status: "completed", output: result?.content, input: '{"path":"notes/today.md"}' }],
  });
  expect(await offered(scene, 0)).toEqual([...FILES, "held_work", "system_time"]);
  await verifyAll(scene);
});

test("[RUN50] in a thread with a worktree, the worktree's files are read", async () => {
  const repository = freshRepository();
  const scene = await RunScene.over(stage.gateway(), stage.model(), repository.dir);
  const { id, worktree } = await scene.start({ use_worktree: true });
  scene.write("only-here.txt", "in the project");
  writeFileSync(join(worktree?.path as string, "only-there.txt"), "in the worktree");
  const both = [
    ...calls("files_read", { path: "only-there.txt" }, "call_a").steps,
    ...calls("files_read", { path: "only-here.txt" }, "call_b").steps,
  ];
  scene.plays({ steps: both }, says("Seen."));
  await scene.answered(id, "Read both");
  const [there, here] = await results(scene, 1);
  expect(there?.content).toContain("in the worktree");
  expect(here?.content).not.toContain("in the project");
});

test("[RUN51] calls of one answer run side by side, and are answered in the order they were made", async () => {
  const scene = await stage.scene();
  const { id } = await scene.start();
  const before = held.begun.length;
  const three = ["slow", "quick", "middle"].flatMap(
    (words) => calls("held_work", { words }, `call_${words}`).steps,
  );
  scene.plays({ steps: three }, says("All done."));
  const { run } = await scene.startRun(id, "Do three things");
  await held.began(before + 3);
  for (const words of ["quick", "middle", "slow"]) held.release(words);
  await scene.ended(run.id);
  const answered = (await results(scene, 1)).map(({ tool_call_id, content }) => [tool_call_id, content]);
  expect(answered).toEqual([
    ["call_slow", "done: slow"],
    ["call_quick", "done: quick"],
    ["call_middle", "done: middle"],
  ]);
  const [, answer] = await scene.messages(id);
  expect(answer?.toolCalls?.map(({ output }) => output)).toEqual([
    "done: slow",
    "done: quick",
    "done: middle",
  ]);
  await verifyAll(scene);
});

test("[RUN52] what can't be called is answered with what to do instead, and the run goes on", async () => {
  const scene = await stage.scene();
  const { id } = await scene.start();
  const bad = [
    ...calls("files_raed", { path: "x" }, "call_a").steps,
    ...calls("files_read", "{path: x", "call_b").steps,
    ...calls("files_read", "[1]", "call_c").steps,
    ...calls("files_read", { file: "x" }, "call_d").steps,
    ...calls("files_read", { path: "../../etc/passwd" }, "call_e").steps,
    ...calls("system_time", "", "call_f").steps,
  ];
  scene.plays({ steps: bad }, says("I see."));
  const run = await scene.answered(id, "Try everything");
  expect(run.steps).toBe(2);
  const told = (await results(scene, 1)).map(({ content }) => content);
  expect(told).toEqual([
    expect.stringContaining("files_read"),
    expect.stringContaining("not JSON"),
    expect.stringContaining("no JSON object"),
    expect.stringContaining("path"),
    expect.not.stringContaining("root:"),
    expect.stringContaining("UTC"),
  ]);
  const [, answer] = await scene.messages(id);
  expect(answer?.toolCalls?.map(({ status }) => status)).toEqual([...Array(5).fill("failed"), "completed"]);
  expect(answer?.toolCalls?.[1]?.input).toBe("{path: x");
  await verifyAll(scene);
});

test("[RUN53] a tool out of the agent's scope is neither offered nor called, and the refusal is recorded", async () => {
  const scene = await stage.scene();
  scene.write("secret.txt", "the secret");
  const cases = [
    ["nothing", "files_read", "toolAllowlist", ["system_time"]],
    ["nothing", "held_work", "toolAllowlist", ["system_time"]],
    ["denied", "files_read", "toolDenylist", ["held_work", "system_time"]],
    ["incapable", "held_work", "capabilityDenylist", [...FILES, "system_time"]],
  ] as const;
  const begun = held.begun.length;
  for (const [agent_id, name, why, names] of cases) {
    scene.model.forget();
    const { id } = await scene.start({ agent_id });
    scene.plays(
      calls(name, name === "held_work" ? { words: "no" } : { path: "secret.txt" }),
      says("Refused."),
    );
    await scene.answered(id, "Do it anyway");
    expect(await offered(scene, 0)).toEqual(names);
    const [result] = await results(scene, 1);
    expect(result?.content).toContain(why);
    expect(result?.content).not.toContain("the secret");
    expect((await scene.messages(id))[1]?.toolCalls).toMatchObject([
      { name, status: "failed", output: result?.content },
    ]);
  }
  expect(held.begun).toHaveLength(begun);
});

test("[RUN54] calls of one answer that share an id are told apart", async () => {
  const scene = await stage.scene();
  const { id } = await scene.start();
  const twice = [
    ...calls("system_time", {}, "same").steps,
    ...calls("files_read", { path: "x" }, "same").steps,
  ];
  scene.plays({ steps: twice }, says("Both."));
  await scene.answered(id, "Call twice");
  const told = await results(scene, 1);
  expect(new Set(told.map(({ tool_call_id }) => tool_call_id)).size).toBe(2);
  const [, answer] = await scene.messages(id);
  const ids = answer?.toolCalls?.map(({ toolCallId }) => toolCallId);
  expect(told.map(({ tool_call_id }) => tool_call_id)).toEqual(ids);
  const refs = answer?.content.flatMap((block) => (block.type === "tool_call_ref" ? [block.toolCallId] : []));
  expect(refs).toEqual(ids);
  expect(answer?.toolCalls?.map(({ status }) => status)).toEqual(["completed", "failed"]);
  await verifyAll(scene);
});

test("[RUN55] a run that calls tools without end is ended after 200 steps, and the thread goes on", async () => {
  const scene = await stage.scene();
  const { id } = await scene.start();
  scene.plays({ repeat: true, steps: calls("system_time").steps });
  const run = await scene.ask(id, "Again and again");
  expect(run).toMatchObject({ status: "failed", steps: 200, error: { code: "run.too_many_steps" } });
  scene.plays("Enough.");
  await scene.answered(id, "Stop");
  const [, answer, , last] = await scene.messages(id);
  expect(answer).toMatchObject({ stopReason: "error" });
  expect(answer?.toolCalls).toHaveLength(200);
  expect(last).toMatchObject({ content: [{ text: "Enough." }] });
});

forEachApi("tools", (api) => {
  const stage = runStage(sqliteStore);

  test("[RUN56] calls whose arguments come in fragments are made, and their results go back", async () => {
    const scene = await stage.scene();
    scene.write("a.txt", "the words of a");
    const { id } = await scene.start({ agent_id: api.id });
    const fragments = ['{"pa', 'th":', '"a.t', 'xt"}'];
    const call = { tool_call: { id: "call_x", name: "files_read", arguments: fragments } };
    scene.plays({ steps: [call, { finish: "stop" }] }, says("Read."));
    const run = await scene.answered(id, "Read a.txt");
    expect(run.steps).toBe(2);
    expect(await scene.received(1)).toContain("the words of a");
    expect((await scene.messages(id))[1]).toMatchObject({
      toolCalls: [{ name: "files_read", status: "completed", input: '{"path":"a.txt"}' }],
      stopReason: "end_turn",
    });
    await verifyAll(scene);
  });
});

test("[RUN57] tools are listed as they are; with a thread, whether its agent may use each", async () => {
  const scene = await stage.scene();
  const { workspace_id } = scene;
  const { id: thread_id } = await scene.start({ agent_id: "denied" });
  const { data: all } = await scene.wire.result("tool/list", { workspace_id });
  expect(all.map(({ name, offered }) => [name, offered])).toEqual(
    [...FILES, "held_work", "system_time"].map((name) => [name, true]),
  );
  expect(all.find(({ name }) => name === "files_read")).toMatchObject({
    capabilities: ["files.read"],
    safe_to_repeat: true,
    parameters: { type: "object", required: ["path"] },
  });
  const { data } = await scene.wire.result("tool/list", { workspace_id, thread_id });
  const scoped = data.map(({ name, offered, reason }) => [name, offered, reason]);
  expect(scoped).toEqual([
    ...FILES.map((name) => [name, false, "in the agent's toolDenylist (files_*)"]),
    ["held_work", true, undefined],
    ["system_time", true, undefined],
  ]);
  const unknown = await scene.wire.error("tool/list", { workspace_id, thread_id: "unknown" });
  expect(unknown).toMatchObject({ code: -32602, data: { kind: "thread.not_found" } });
  expect((await scene.wire.error("tool/list", { workspace_id: "wsp_unknown" })).code).toBe(-32602);
});

test("[RUN58] tool/call calls where a run would, within the same scope and directory", async () => {
  const scene = await stage.scene();
  const { workspace_id } = scene;
  scene.write("a.txt", "the words");
  mkdirSync(join(scene.root, "links"));
  symlinkSync(projectDirectory(), join(scene.root, "links", "out"));
  const { id: free } = await scene.start();
  const { id: limited } = await scene.start({ agent_id: "nothing" });
  const call = (name: string, given: object, thread_id?: string) =>
    scene.wire.result("tool/call", { workspace_id, name, arguments: given as never, thread_id });
  expect(await call("files_read", { path: "a.txt" })).toMatchObject({
    status: "completed",
    output: expect.stringContaining("the words"),
    duration_ms: expect.any(Number),
  });
  expect(await call("files_read", { path: "a.txt" }, free)).toMatchObject({ status: "completed" });
  const refused = await call("files_read", { path: "a.txt" }, limited);
  expect(refused).toEqual({
    status: "failed",
    output: expect.stringContaining("toolAllowlist"),
    duration_ms: 0,
  });
  expect(await call("system_time", {}, limited)).toMatchObject({ status: "completed" });
  for (const path of ["links/out/x", ".agent/threads", "../x", "/etc/passwd"]) {
    expect(await call("files_read", { path })).toMatchObject({ status: "failed" });
  }
  expect(await call("files_red", {})).toMatchObject({ output: expect.stringContaining("files_read") });
  expect(await call("files_read", { nope: 1 })).toMatchObject({ status: "failed" });
  for (const wrong of [{ arguments: "x" }, { arguments: [1] }, { name: "" }, { workspace_id: "wsp_no" }]) {
    const params = { workspace_id, name: "system_time", ...wrong };
    expect((await scene.wire.error("tool/call", params)).code).toBe(-32602);
  }
  expect(await scene.messages(free)).toEqual([]);
});

test("[RUN59] a thread whose agent is unknown here has the limits of the one that answers for it", async () => {
  const config = (url: string) => ({ agents: [agentAt(url, apis[0], { toolAllowlist: [] })] });
  const model = await startModelServer();
  const file = join(projectDirectory(), "heddle.config.json");
  writeFileSync(file, JSON.stringify(config(model.url)));
  const gateway = await startGateway(sqliteStore, { configFile: file });
  onTestFinished(async () => {
    await gateway.stop();
    await model.close();
  });
  const scene = await RunScene.over(gateway, model, projectDirectory());
  const thread_id = "t-imported";
  scene.foreign(thread_id, { envelope: { agent: { id: "somebody-else", name: "Else" } } });
  await soon(() => looks.found(scene, thread_id)).toMatchObject({ agent_id: "somebody-else" });
  scene.write("a.txt", "the words");
  const { workspace_id } = scene;
  const params = { workspace_id, thread_id, name: "files_read", arguments: { path: "a.txt" } };
  expect(await scene.wire.result("tool/call", params)).toMatchObject({
    status: "failed",
    output: expect.stringContaining("toolAllowlist"),
  });
  scene.plays(calls("files_read", { path: "a.txt" }), says("No."));
  await scene.answered(thread_id, "Read it");
  expect((await results(scene, 1))[0]?.content).toContain("toolAllowlist");
});
