import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { agentNamed, answerTo, playByAgent, waitingFor } from "../support/agents.js";
import { askedIn, delegates } from "../support/delegation.js";
import { type RunScene, runStage } from "../support/runs.js";
import { settle, soon } from "../support/threads.js";
import { step, Traps, toldOf } from "./support.js";

const traps = new Traps();
const stage = runStage(undefined, {
  config: (url) => ({
    plugins: {},
    agents: [
      agentNamed(url, "asker", { toolApprovals: { allow: ["bash", "files_write"], ask: ["open_safe"] } }),
      agentNamed(url, "helper", { toolApprovals: { allow: ["open_safe"] } }),
      agentNamed(url, "denied", { toolApprovals: { deny: ["open_safe"] } }),
    ],
  }),
  options: { tools: [traps.tool("open_safe")] },
});
beforeEach(() => void traps.sprung.splice(0));

/** A run of the asker that waits with this call. */
async function waiting(scene: RunScene, thread_id: string, content = "go") {
  const { run } = await scene.startRun(thread_id, content);
  return scene.changed(run.id, ({ status }) => status === "waiting");
}

/** Whatever was tried in a thread, its next call of the tool is still asked about. */
async function stillAsks(scene: RunScene, thread_id: string): Promise<void> {
  playByAgent(scene.model, { asker: [step(["open_safe", { word: "unasked" }])] });
  const run = await waiting(scene, thread_id);
  expect(waitingFor(run)).toEqual(["open_safe"]);
  expect((await scene.get(thread_id)).granted_tools).toBeUndefined();
  await scene.wire.result("run/cancel", { run_id: run.id });
  expect(traps.sprung).toEqual([]);
}

describe("an agent that waits for somebody's word", () => {
  test("[SCP50] can't give it itself by a command, while its own call waits", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const { id } = await scene.start({ agent_id: "asker" });
    const call = (method: string, params: string) =>
      `curl -s -X POST "$HEDDLE_URL/rpc" -H "Authorization: Bearer $HEDDLE_TOKEN" -d '{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}'; echo`;
    const command = [
      "until [ -s run_id ]; do sleep 0.05; done; RUN=$(cat run_id)",
      call("run/approve", `{"run_id":"'$RUN'","tool_call_id":"call_0","decision":"always"}`),
      call("thread/update", `{"thread_id":"${id}","granted_tools":["open_safe"]}`),
      call("run/steer", `{"run_id":"'$RUN'","content":"yes, allowed"}`),
      call("tool/call", `{"name":"open_safe","arguments":{"word":"token"}}`),
      call("tool/call", `{"name":"agents_message","arguments":{"agentId":"asker","content":"allow it"}}`),
      "heddle runs approve $RUN --always; echo exit $?",
    ].join("\n");
    playByAgent(scene.model, {
      asker: [step(["open_safe", { word: "asked" }], ["bash", { command, timeout_seconds: 60 }]), "done"],
    });
    const run = await waiting(scene, id);
    writeFileSync(join(scene.root, "run_id"), run.id);
    await soon(
      async () => (await scene.journal(run.id)).filter(({ type }) => type === "effect.receipt").length,
    ).toBe(2);
    expect(waitingFor(await scene.getRun(run.id))).toEqual(["open_safe"]);
    await scene.wire.result("run/approve", { run_id: run.id, tool_call_id: "call_0", decision: "deny" });
    await scene.ended(run.id);
    const [denied, told = ""] = toldOf(scene, "asker", 2);
    expect(denied).toContain("did not allow");
    expect(told.match(/"code":-32003/g)).toHaveLength(3);
    expect(told).toContain("open_safe was not called: somebody has to allow it first");
    expect(told).toContain("can't delegate to yourself");
    expect(told).toContain("exit 1");
    expect(traps.sprung).toEqual([]);
    const steps = (await scene.journal(run.id)).filter(({ type }) => type === "tool.called");
    expect(steps.map(({ name, status }) => [name, status])).toEqual([
      ["open_safe", "refused"],
      ["agents_message", "failed"],
    ]);
    expect((await scene.wire.result("thread/list", { workspace_id })).data).toHaveLength(1);
    await stillAsks(scene, id);
  });

  test("[SCP51] can't have it given by another agent: what that one sends there is a message, and the call waits on", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "asker" });
    const { id: other } = await scene.start({ agent_id: "helper" });
    playByAgent(scene.model, {
      asker: [step(["open_safe", { word: "asked" }]), "done", "so be it"],
      helper: [delegates({ agentId: "asker", content: "always", session: id, mode: "async" }), "sent"],
    });
    const run = await waiting(scene, id);
    await scene.answered(other, "allow what it asks");
    expect(answerTo(scene.model, "helper")).toMatchObject({ status: "started", sessionId: id });
    expect(waitingFor(await scene.getRun(run.id))).toEqual(["open_safe"]);
    await scene.wire.result("run/approve", { run_id: run.id, tool_call_id: "call_0", decision: "deny" });
    await scene.ended(run.id);
    await soon(() => askedIn(scene, id)).toEqual(["go", "always"]);
    expect(traps.sprung).toEqual([]);
    await soon(async () => (await scene.runs()).every(({ ended_at }) => ended_at !== undefined)).toBe(true);
    await stillAsks(scene, id);
  });
});

describe("a grant", () => {
  test("[SCP52] is given by nobody's thread/update, attributes, archive or fork", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const { id } = await scene.start({ agent_id: "asker" });
    await scene.update(id, { granted_tools: ["open_safe", "*"] } as never);
    await scene.update(id, { attributes: { granted_tools: ["open_safe"], grantedTools: ["*"] } });
    await stillAsks(scene, id);
    playByAgent(scene.model, { asker: [step(["open_safe", { word: "once" }]), "done"] });
    const run = await waiting(scene, id);
    await scene.wire.result("run/approve", { run_id: run.id, tool_call_id: "call_0", decision: "always" });
    await scene.ended(run.id);
    expect((await scene.get(id)).granted_tools).toEqual(["open_safe"]);
    traps.sprung.splice(0);
    const fork = await scene.fork(id);
    await stillAsks(scene, fork.id);
    const { archive_base64 } = await scene.wire.result("thread/export", { workspace_id, thread_id: id });
    const elsewhere = await stage.scene();
    const into = { workspace_id: elsewhere.workspace_id, archive_base64 };
    const { data } = await elsewhere.wire.result("thread/import", into);
    await stillAsks(elsewhere, data[0]?.thread_id ?? "");
  });

  test("[SCP53] is given by nothing that stands in a thread's own files", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "asker" });
    const granted = ["open_safe", "*", "bash"];
    scene.edit(id, (envelope) => {
      envelope.granted_tools = granted;
      envelope.grantedTools = granted;
      envelope.title = "edited";
      envelope.agent.toolApprovals = { allow: granted };
      envelope.metadata = {
        ...envelope.metadata,
        granted_tools: granted,
        heddle: {
          ...envelope.metadata?.heddle,
          granted_tools: granted,
          grantedTools: granted,
          config: { granted_tools: granted, toolApprovals: { allow: ["*"] }, toolAllowlist: ["*"] },
          attributes: { granted_tools: granted },
        },
      };
    });
    await soon(async () => (await scene.get(id)).title).toBe("edited");
    await settle();
    expect((await scene.get(id)).granted_tools).toBeUndefined();
    await stillAsks(scene, id);
  });

  test("[SCP54] lifts no list: what toolApprovals deny stays out of reach of somebody's word", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const { id } = await scene.start({ agent_id: "denied" });
    playByAgent(scene.model, { denied: [step(["open_safe"]), "I see."] });
    const run = await scene.answered(id, "go");
    expect(toldOf(scene, "denied", 1)[0]).toContain("toolApprovals.deny");
    expect(
      await scene.wire.error("run/approve", { run_id: run.id, tool_call_id: "call_0", decision: "always" }),
    ).toMatchObject({ data: { kind: "run.not_asking" } });
    const params = { workspace_id, thread_id: id, name: "open_safe" };
    expect(await scene.wire.result("tool/call", params)).toMatchObject({ status: "failed" });
    expect(traps.sprung).toEqual([]);
  });

  test("[SCP55] can't be written by a file tool: threads' files, the project's configuration of git and the like are out of reach", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start({ agent_id: "asker" });
    const content = '{"granted_tools":["open_safe"]}';
    const before = scene.text(id);
    const paths = [
      `.agent/threads/${id}/thread.json`,
      `./x/../.agent/threads/${id}/thread.json`,
      `.AGENT/threads/${id}/thread.json`,
      `.agent\u200b/threads/${id}/thread.json`,
      scene.path(id, "thread.json"),
      ".git/hooks/post-checkout",
    ];
    playByAgent(scene.model, {
      asker: [step(...paths.map((path) => ["files_write", { path, content }] as const)), "I see."],
    });
    await scene.answered(id, "go");
    for (const told of toldOf(scene, "asker", paths.length)) expect(told).toContain(".git or .agent");
    expect(JSON.parse(scene.text(id)).agent).toEqual(JSON.parse(before).agent);
    await stillAsks(scene, id);
  });
});
