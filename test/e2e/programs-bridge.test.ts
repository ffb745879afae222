import { writeFileSync } from "node:fs";
import { beforeEach, expect, test } from "vitest";
import { type Deed, type Doer, doer, doing } from "../support/programs.js";
import { type RunScene, runStage } from "../support/runs.js";

const program: Doer = doer();
const stage = runStage(undefined, {
  config: () => ({
    plugins: {},
    agents: [
      program.agent("doer", { toolAllowlist: ["notes_*", "agents_*"], ownTools: true }),
      program.agent("asking", {
        toolAllowlist: ["notes_*"],
        ownTools: true,
        toolApprovals: { ask: ["notes_*"] },
      }),
      program.agent("peer", { toolAllowlist: ["agents_*"], ownTools: true }),
    ],
  }),
});
let scene: RunScene;
beforeEach(async () => {
  scene = await stage.scene();
});

const said = async (thread_id: string) => {
  const data = await scene.messages(thread_id);
  return (data.at(-1)?.content ?? []).map((block) => (block as { text?: string }).text ?? "").join("");
};
const call = (name: string, given: object = {}): Deed => ({ call: name, arguments: given });

test("[PRG30] a program is offered the agent's tools over MCP, and nothing else", async () => {
  const { id } = await scene.start();
  await scene.answered(id, doing({ tools: true }));
  const offered = (await said(id)).split(",").sort();
  const { data } = await scene.wire.result("tool/list", { workspace_id: scene.workspace_id, thread_id: id });
  const expected = data.filter((tool) => tool.offered).map(({ name }) => name);
  expect(offered).toEqual(expected.sort());
  expect(offered).toContain("notes_create");
  await scene.answered(id, doing(call("notes_create", { title: "Kept", content: "words" })));
  expect(await said(id)).toContain("Kept");
  const run = await scene.answered(id, doing(call("lists_create", { name: "no" })));
  expect(await said(id)).toMatch(/failed: .*toolAllowlist/);
  const refused = (await scene.journal(run.id)).filter(({ type }) => type === "tool.called");
  expect(refused).toMatchObject([{ name: "lists_create", status: "refused", by: "agent" }]);
});

test("[PRG31] a tool that asks first makes the run wait, and the program with it", async () => {
  const { id } = await scene.start({ agent_id: "asking" });
  const { run } = await scene.startRun(id, doing(call("notes_create", { title: "T", content: "c" })));
  const { approvals = [] } = await scene.changed(run.id, ({ status }) => status === "waiting");
  expect(approvals).toMatchObject([{ name: "notes_create", arguments: '{"content":"c","title":"T"}' }]);
  const tool_call_id = approvals[0]?.tool_call_id ?? "";
  await scene.wire.result("run/approve", { run_id: run.id, tool_call_id, decision: "allow" });
  expect((await scene.ended(run.id)).status).toBe("completed");
  expect(await said(id)).not.toContain("failed");
  const denied = await scene.startRun(id, doing(call("notes_create", { title: "U", content: "c" })));
  const asked = await scene.changed(denied.run.id, ({ status }) => status === "waiting");
  await scene.wire.result("run/approve", {
    run_id: denied.run.id,
    tool_call_id: asked.approvals?.[0]?.tool_call_id ?? "",
    decision: "deny",
  });
  expect((await scene.ended(denied.run.id)).status).toBe("completed");
  expect(await said(id)).toMatch(/failed: .*did not allow/);
});

test("[PRG26] a question about a call that the program gives up is gone", async () => {
  const { id } = await scene.start({ agent_id: "asking" });
  const given = { title: "Given up", content: "c" };
  const file = program.file("given-up");
  const { run } = await scene.startRun(
    id,
    doing({ ...call("notes_create", given), patience: 300 }, { say: " on it goes" }, { wait: file }),
  );
  const { approvals = [] } = await scene.changed(run.id, ({ status }) => status === "waiting");
  await expect.poll(async () => (await scene.getRun(run.id)).status).toBe("running");
  expect((await scene.getRun(run.id)).approvals).toBeUndefined();
  expect((await scene.get(id)).status).toBe("running");
  const tool_call_id = approvals[0]?.tool_call_id ?? "";
  const late = await scene.wire.error("run/approve", { run_id: run.id, tool_call_id, decision: "always" });
  expect(late.data).toMatchObject({ kind: "run.not_asking" });
  writeFileSync(file, "");
  expect((await scene.ended(run.id)).status).toBe("completed");
  expect((await scene.get(id)).granted_tools).toBeUndefined();
  expect(await scene.wire.result("run/replay", { run_id: run.id })).toMatchObject({ verified: true });
});

test("[PRG32] between runs the token of the bridge lets nobody in", async () => {
  const { id } = await scene.start();
  await scene.answered(id, doing({ tools: true }));
  const { bridge = "", headers = {} } = program.heard().findLast((one) => one.bridge) ?? {};
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} });
  const ask = () =>
    fetch(bridge, {
      method: "POST",
      headers: {
        ...headers,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body,
    });
  expect((await ask()).status).toBe(401);
  // The same process works with the same token in the next run.
  await scene.answered(id, doing({ tools: true }));
  expect(await said(id)).toContain("notes_create");
  expect((await ask()).status).toBe(401);
});

test("[PRG33] what is delegated through the bridge is delegated by the run, and its limits hold", async () => {
  const { id } = await scene.start();
  const deeper = doing(
    call("agents_message", { agentId: "asking", content: "hi", mode: "sync", session: "create" }),
  );
  const run = await scene.answered(
    id,
    doing(call("agents_message", { agentId: "peer", content: deeper, mode: "sync", session: "create" })),
  );
  expect(await said(id)).toMatch(/depth/i);
  const { data } = await scene.wire.result("run/list", {
    workspace_id: scene.workspace_id,
    tree_of: run.id,
    limit: 10,
  });
  expect(data.map(({ agent_id }) => agent_id).sort()).toEqual(["doer", "peer"]);
});
