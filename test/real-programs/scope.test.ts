import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { ServerTurn } from "../support/model-server/script.js";
import { type RunScene, runStage, says } from "../support/runs.js";
import { temporaryDirectory } from "../support/stores.js";
import { acpAgents, type RealAgent, realAgents } from "./real-agents.js";

for (const agent of [...realAgents, ...acpAgents]) {
  describe(`the real ${agent.name} with limits`, () => limits(agent));
}
for (const agent of acpAgents) {
  describe(`the real ${agent.name} that asks`, () => asking(agent));
}

function homeIn(): string {
  const home = join(temporaryDirectory(), "home");
  mkdirSync(home);
  return home;
}

/** Plays turns one after the other to whoever asks about a word, and a word to everybody else. */
function playAbout(scene: RunScene, word: string, ...turns: ServerTurn[]): void {
  const left = [...turns];
  scene.model.play((body) => (body.includes(word) ? (left.shift() ?? says("done")) : says("ok")));
}

function limits(agent: RealAgent): void {
  const stage = runStage(undefined, {
    config: (url) => ({
      plugins: {},
      agents: [
        agent.entry(url, homeIn(), { toolAllowlist: ["notes_*", "agents_*"], agentAllowlist: ["other"] }),
        { agentId: "other", displayName: "Other", chat: { provider: "demo", model: "demo" } },
        { agentId: "hidden", displayName: "Hidden", chat: { provider: "demo", model: "demo" } },
      ],
    }),
  });

  test("[PRG24] it can't reach a forbidden tool through its own tools", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    const file = join(scene.root, "forbidden.txt");
    playAbout(scene, "WORD-OWN", agent.command(`echo x > ${file}`), says("gave up"));
    const run = await scene.ask(id, "WORD-OWN");
    expect(existsSync(file)).toBe(false);
    expect(["completed", "failed"]).toContain(run.status);
    expect((await scene.getRun(run.id)).approvals).toBeUndefined();
  });

  test("[PRG30] [PRG24] it can't reach one through the bridge either, and those it has work", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    playAbout(
      scene,
      "WORD-BRIDGE",
      agent.bridged("lists_create", { name: "Forbidden" }),
      agent.bridged("notes_create", { title: "Allowed", content: "x" }),
      says("done"),
    );
    const run = await scene.ask(id, "WORD-BRIDGE");
    const { workspace_id } = scene;
    const lists = await scene.wire.result("tool/call", { workspace_id, name: "lists_list", arguments: {} });
    expect(lists.output).not.toContain("Forbidden");
    if (!trusts(agent)) return;
    const notes = await scene.wire.result("tool/call", { workspace_id, name: "notes_list", arguments: {} });
    expect([run.status, notes.output.includes("Allowed")]).toEqual(["completed", true]);
  });

  test("[PRG33] [PRG24] nor by delegation: whom it may not ask, it can't", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    const message = { agentId: "hidden", content: "hi", mode: "sync", session: "create" };
    playAbout(scene, "WORD-ASK", agent.bridged("agents_message", message), says("done"));
    await scene.ask(id, "WORD-ASK");
    expect((await scene.runs()).map(({ agent_id }) => agent_id)).not.toContain("hidden");
  });
}

/** Gemini CLI starts no MCP server where it does not trust the folder: that is the user's to say. */
function trusts({ name }: RealAgent): boolean {
  return name !== "gemini";
}

function asking(agent: RealAgent): void {
  const stage = runStage(undefined, { config: (url) => ({ agents: [agent.entry(url, homeIn())] }) });

  test("[PRG20] a tool call with a permission that another client answers", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    const file = join(scene.root, "made.txt");
    playAbout(scene, "WORD-MAKE", agent.command(`echo made > ${file}`), says("I made it."));
    const { run } = await scene.startRun(id, "WORD-MAKE");
    const asked = await scene.changed(run.id, ({ status }) => status === "waiting", 90_000);
    expect(existsSync(file)).toBe(false);
    const other = await stage.again(scene);
    const tool_call_id = asked.approvals?.[0]?.tool_call_id ?? "";
    await other.wire.result("run/approve", { run_id: run.id, tool_call_id, decision: "allow" });
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed" });
    expect(existsSync(file)).toBe(true);
    const answer = (await scene.messages(id)).at(-1);
    expect(answer?.toolCalls).toMatchObject([{ status: "completed" }]);
    expect(JSON.stringify(answer?.content)).toContain("I made it.");
    writeFileSync(join(scene.root, "seen"), "");
  });
}
