import { beforeEach, expect, test } from "vitest";
import type { Run } from "../../src/protocol/index.js";
import { type Deed, type Doer, doer, doing } from "../support/programs.js";
import { type RunScene, runStage } from "../support/runs.js";
import { onEitherStore } from "../support/stores.js";

const edit = (path: string): Deed => ({ ask: "edit", input: { path } });

onEitherStore("what a program may do", (kind) => {
  const program: Doer = doer();
  const stage = runStage(kind, {
    config: () => ({
      agents: [
        program.agent("doer"),
        program.agent("careful", { toolApprovals: { allow: ["read"], ask: [], deny: ["edit"] } }),
        program.agent("scoped", { toolAllowlist: ["notes_*"], ownTools: true }),
        program.agent("limited", { toolAllowlist: ["notes_*"] }),
      ],
    }),
  });
  let scene: RunScene;
  beforeEach(async () => {
    scene = await stage.scene();
  });

  async function waiting(thread_id: string, ...deeds: Deed[]): Promise<Run> {
    const { run } = await scene.startRun(thread_id, doing(...deeds));
    return scene.changed(run.id, ({ status }) => status === "waiting");
  }
  const callOf = ({ approvals = [] }: Run) => approvals[0] as NonNullable<Run["approvals"]>[number];
  const said = async (thread_id: string) => {
    const data = await scene.messages(thread_id);
    return (data.at(-1)?.content ?? []).map((block) => (block as { text?: string }).text ?? "").join("");
  };

  test("[PRG20] a permission makes the run wait, and another client answers it", async () => {
    const { id } = await scene.start();
    const run = await waiting(id, { say: "May I? " }, edit("a.txt"));
    expect(callOf(run)).toMatchObject({ name: "edit", arguments: '{"path":"a.txt"}' });
    expect((await scene.get(id)).status).toBe("waiting");
    const { tool_call_id } = callOf(run);
    const { call } = await scene.wire.result("run/get", { run_id: run.id, tool_call_id });
    expect(call).toEqual({ tool_call_id, name: "edit", arguments: '{"path":"a.txt"}' });
    const other = await stage.again(scene);
    await other.wire.result("run/approve", { run_id: run.id, tool_call_id, decision: "allow" });
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
    expect(await said(id)).toBe("May I? edit: yes");
    const data = await scene.messages(id);
    expect(data.at(-1)?.toolCalls).toMatchObject([{ name: "edit", status: "completed", output: "done" }]);
  });

  test("[PRG21] what is denied is not done, and the program goes on", async () => {
    const { id } = await scene.start();
    const run = await waiting(id, edit("a.txt"), { say: "; without it" });
    await scene.wire.result("run/approve", {
      run_id: run.id,
      tool_call_id: callOf(run).tool_call_id,
      decision: "deny",
    });
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
    expect(await said(id)).toBe("edit: no; without it");
  });

  test("[PRG22] always holds for that tool of the program in that thread", async () => {
    const { id } = await scene.start();
    const run = await waiting(id, edit("a.txt"));
    const { tool_call_id } = callOf(run);
    await scene.wire.result("run/approve", { run_id: run.id, tool_call_id, decision: "always" });
    await scene.ended(run.id);
    await scene.answered(id, doing(edit("b.txt")));
    expect((await scene.get(id)).granted_tools).toEqual(["own:edit"]);
    const other = await waiting((await scene.start()).id, edit("c.txt"));
    await scene.wire.result("run/cancel", { run_id: other.id });
    const another = await waiting(id, { ask: "execute", input: {} });
    await scene.wire.result("run/cancel", { run_id: another.id });
    expect((await scene.ended(another.id)).status).toBe("cancelled");
  });

  test("[PRG22] always does not hold for what the program has no name for: that could be anything", async () => {
    const { id } = await scene.start();
    const nameless: Deed = { ask: "other", input: { command: "anything" } };
    const run = await waiting(id, nameless);
    const { tool_call_id } = callOf(run);
    await scene.wire.result("run/approve", { run_id: run.id, tool_call_id, decision: "always" });
    await scene.ended(run.id);
    expect(await said(id)).toBe("other: ever");
    expect((await scene.get(id)).granted_tools).toBeUndefined();
    const again = await waiting(id, nameless);
    await scene.wire.result("run/cancel", { run_id: again.id });
    await scene.ended(again.id);
  });

  test("[PRG23] nobody is asked about what the agent's toolApprovals decide", async () => {
    const { id } = await scene.start({ agent_id: "careful" });
    await scene.answered(id, doing({ ask: "read", input: {} }, { say: ", " }, edit("a.txt")));
    expect(await said(id)).toMatch(/^read: (yes|ever), edit: no$/);
  });

  test("[PRG24] a program that can't be limited is refused to an agent with lists, unless it says ownTools", async () => {
    const { id } = await scene.start({ agent_id: "limited" });
    const error = await scene.wire
      .result("run/start", { workspace_id: scene.workspace_id, thread_id: id, content: "go" })
      .then(({ run }) => scene.ended(run.id))
      .then((run) => run.error?.message, String);
    expect(error).toMatch(/ownTools/);
    const scoped = await scene.start({ agent_id: "scoped" });
    await scene.answered(scoped.id, doing({ say: "fine" }));
  });

  test("[PRG25] a program that ends while somebody is asked fails its run, and the question is gone", async () => {
    const { id } = await scene.start();
    const { run } = await scene.startRun(
      id,
      doing({ say: "x" }, { tool: "read", output: "seen" }, { ask: "edit", input: {} }),
    );
    const asked = await scene.changed(run.id, ({ status }) => status === "waiting");
    const [pid = 0] = program.living().slice(-1);
    process.kill(pid, "SIGKILL");
    const ended = await scene.ended(run.id);
    expect(ended).toMatchObject({ status: "failed", error: { code: "program.exited" } });
    expect(ended.approvals).toBeUndefined();
    const { tool_call_id } = callOf(asked);
    const late = await scene.wire.error("run/approve", { run_id: run.id, tool_call_id, decision: "allow" });
    expect(late.data).toMatchObject({ kind: "run.not_asking" });
    const data = await scene.messages(id);
    expect(data.at(-1)?.toolCalls).toMatchObject([
      { name: "read", status: "completed" },
      { name: "edit", status: "failed" },
    ]);
    await scene.answered(id, "still there?");
  });
});
