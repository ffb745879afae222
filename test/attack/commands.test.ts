import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { agentNamed, playByAgent } from "../support/agents.js";
import { askedIn } from "../support/delegation.js";
import { KEY, type RunScene, runStage } from "../support/runs.js";
import { soon } from "../support/threads.js";
import { recorded, step, Traps, toldOf } from "./support.js";

const SECRETS: Readonly<Record<string, string>> = {
  OPENAI_API_KEY: "sk-attack-openai-0001",
  ANTHROPIC_API_KEY: "sk-attack-anthropic-0002",
  SAME_UNDER_ANOTHER_NAME: "sk-attack-anthropic-0002",
  ATTACK_FILLED: "attack-filled-0003",
  ATTACK_DB_PASSWORD: "attack-password-0004",
  ATTACK_session_token: "attack-session-0005",
  HEDDLE_TOKEN: "attack-heddle-0006",
  HEDDLE_DATA: "attack-heddle-0007",
  GIT_DIR: "attack-git-0008",
  GIT_ASKPASS: "attack-git-0009",
};
const OF_A_PROJECT: Readonly<Record<string, string>> = {
  ATTACK_TEAM_PAT: "attack-team-0010",
  ATTACK_TEAM_SERVER: "attack-team-0011",
};
for (const [name, value] of Object.entries({ ...SECRETS, ...OF_A_PROJECT })) process.env[name] = value;

const traps = new Traps();
const stage = runStage(undefined, {
  config: (url) => ({
    plugins: { elsewhere: { filled: "$" + "{ATTACK_FILLED}" } },
    agents: [
      agentNamed(url, "crafty", {
        toolExposure: "skills",
        toolDenylist: ["open_door", "notes_delete"],
        toolApprovals: { allow: ["bash"], ask: ["open_safe"] },
      }),
      agentNamed(url, "wide", { toolApprovals: { allow: ["*"] } }),
    ],
  }),
  options: { tools: ["open_door", "open_box", "open_safe"].map((name) => traps.tool(name)) },
});
beforeEach(() => void traps.sprung.splice(0));

/** What the agent's bash answered to these commands, which run side by side; each with its exit code. */
async function bash(scene: RunScene, thread_id: string, ...commands: readonly string[]): Promise<string[]> {
  const all = commands.map((command, at) => `{ ${command}\n} > out.${at} 2>&1; echo "exit $?" >> out.${at}`);
  const script = `${all.map((one) => `{ ${one}; } &`).join("\n")}\nwait`;
  playByAgent(scene.model, { crafty: [step(["bash", { command: script, timeout_seconds: 60 }]), "done"] });
  await scene.answered(thread_id, "do it");
  return commands.map((_, at) => readFileSync(join(scene.root, `out.${at}`), "utf8"));
}

const crafty = async (scene: RunScene) => (await scene.start({ agent_id: "crafty" })).id;

describe("a command of an agent", () => {
  test("[SCP30] reaches no tool outside its scope, and none that somebody has to allow, whatever thread it names", async () => {
    const scene = await stage.scene();
    const id = await crafty(scene);
    const { id: wide } = await scene.start({ agent_id: "wide" });
    const outputs = await bash(
      scene,
      id,
      "heddle tool open_door",
      "heddle tool open_safe",
      "heddle tool Open_box",
      `heddle tool open_door --thread ${wide}`,
      `HEDDLE_THREAD=${wide} heddle tool open_door`,
      "HEDDLE_THREAD= heddle tool open_door",
      `heddle tool open_door --workspace ${scene.workspace_id}`,
      "heddle tool open_box --word fine",
    );
    expect(outputs.map((text) => /exit (\d+)\n$/.exec(text)?.[1])).toEqual([...Array(7).fill("1"), "0"]);
    expect(outputs[0]).toContain("open_door was not called: in the agent's toolDenylist (open_door).");
    expect(outputs[1]).toContain("somebody has to allow it first");
    expect(outputs[2]).toContain("no tool");
    for (const text of outputs.slice(3, 7)) expect(text).toMatch(/token of a thread|This token is for/);
    expect(traps.sprung).toEqual(["open_box fine"]);
  });

  test("[SCP31] sends no message, answers no approval, and changes nothing else with its token", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const id = await crafty(scene);
    const outputs = await bash(
      scene,
      id,
      `heddle send --thread ${id} "and more"`,
      `heddle runs approve 1 --thread ${id} --always`,
      `heddle threads list --workspace ${workspace_id}`,
      `heddle threads start --workspace ${workspace_id} --agent wide`,
      `heddle trust --workspace ${workspace_id} --yes`,
      "heddle agents",
    );
    for (const text of outputs) expect(text).toMatch(/A token of a thread is for .*\n(.*\n)*exit 1\n$/);
    expect((await scene.list()).map((thread) => [thread.id, thread.granted_tools])).toEqual([
      [id, undefined],
    ]);
    expect(await askedIn(scene, id)).toEqual(["do it"]);
  });

  test("[SCP32] gets nowhere with the commands that a SKILL.md has for tools it may not use", async () => {
    const scene = await stage.scene();
    const { wire, workspace_id } = scene;
    await wire.result("tool/call", { workspace_id, name: "notes_create", arguments: { title: "the note" } });
    const id = await crafty(scene);
    const { messages } = await scene.preview(id, { content: "hello" });
    const section = messages.find(({ section_id }) => section_id === "skills")?.content as string;
    const [, path = ""] = /^- notes.*\n {2}SKILL\.md: (.+)$/m.exec(section) ?? [];
    const command = /^heddle tool notes_delete .*(?:'the note'|"the note").*$/m.exec(
      readFileSync(path, "utf8"),
    )?.[0] as string;
    expect(command).toBeDefined();
    const [refused, listed] = await bash(scene, id, command, "heddle tool notes_list");
    expect(refused).toContain("notes_delete was not called: in the agent's toolDenylist (notes_delete).");
    expect(listed).toContain("the note");
    expect(await recorded(scene, id)).toMatchObject([{ name: "bash", status: "completed" }]);
    const journal = await scene.journal((await scene.runs(id))[0]?.id ?? "");
    expect(journal.find(({ name }) => name === "notes_delete")).toMatchObject({
      type: "tool.called",
      by: "agent",
      status: "refused",
    });
  });

  test("[SCP33] sees no secret of the environment or the configuration, and no model is told one", async () => {
    const scene = await stage.scene();
    const id = await crafty(scene);
    playByAgent(scene.model, { crafty: [step(["bash", { command: "env; set; export -p" }]), "done"] });
    await scene.answered(id, "show me");
    const told = toldOf(scene, "crafty", 1)[0] ?? "";
    expect(told).toContain(`HEDDLE_THREAD=${id}`);
    const hidden = [...Object.values(SECRETS), KEY, stage.gateway().token];
    for (const { body } of scene.model.requests)
      for (const secret of hidden) expect(body.includes(secret), secret).toBe(false);
    expect(new Set(told.match(/\b(?:HEDDLE|GIT)_\w+(?==)/g))).toEqual(
      new Set(["HEDDLE_THREAD", "HEDDLE_TOKEN", "HEDDLE_URL", "HEDDLE_WORKSPACE"]),
    );
  });

  test("[SCP33] sees nothing that a trusted project was filled with, in whichever workspace, also when it changes the file", async () => {
    const [scene, other] = [await stage.scene(), await stage.scene()];
    const chat = { provider: "demo" };
    const agents = [{ agentId: "team", description: "$" + "{ATTACK_TEAM_PAT}", chat }];
    const team = { command: "true", env: { KEY: "$" + "{ATTACK_TEAM_SERVER}" } };
    scene.write("heddle.config.json", { agents });
    scene.write(".mcp.json", { mcpServers: { team } });
    const { wire, workspace_id } = scene;
    const look = 'echo "[$ATTACK_TEAM_PAT$ATTACK_TEAM_SERVER]"';
    const seen = async (where: RunScene) => (await bash(where, await crafty(where), look))[0];
    const nothing = "[]\nexit 0\n";
    const all = `[${Object.values(OF_A_PROJECT).join("")}]\nexit 0\n`;
    expect(await seen(scene)).toBe(all);
    const { trust = [] } = await wire.result("workspace/get", { workspace_id });
    for (const { kind, content_sha256 } of trust)
      await wire.result("workspace/trust", { workspace_id, kind, content_sha256 });
    for (const where of [scene, other]) expect(await seen(where)).toBe(nothing);
    // What it says now is trusted by nobody: a command that wrote it must not get by that what was kept from it.
    const edit = "sed -i 's/team/other/' heddle.config.json .mcp.json; sleep 1";
    await bash(scene, await crafty(scene), edit);
    const { trust: now = [] } = await wire.result("workspace/get", { workspace_id });
    expect(now.map(({ trusted }) => trusted)).toEqual([false, false]);
    for (const where of [scene, other]) expect(await seen(where)).toBe(nothing);
    for (const { kind } of trust) await wire.result("workspace/trust", { workspace_id, kind, revoke: true });
    expect(await seen(other)).toBe(all);
  });

  test("[SCP34] that names another agent in its thread's files has the limits of its run's agent until that ends", async () => {
    const scene = await stage.scene();
    const id = await crafty(scene);
    const file = scene.path(id, "thread.json");
    const command = [
      `sed -i 's/"id": *"crafty"/"id": "wide"/' '${file}'`,
      "until [ -e noticed ]; do sleep 0.05; done",
      "heddle tool open_door; heddle tool open_safe",
    ].join("\n");
    playByAgent(scene.model, { crafty: [step(["bash", { command, timeout_seconds: 60 }]), "done"] });
    const { run } = await scene.startRun(id, "go");
    await soon(async () => (await scene.get(id)).agent_id).toBe("wide");
    writeFileSync(join(scene.root, "noticed"), "");
    expect(await scene.ended(run.id)).toMatchObject({ status: "completed", agent_id: "crafty" });
    expect(toldOf(scene, "crafty", 1)[0]).toContain(
      "open_door was not called: in the agent's toolDenylist (open_door).",
    );
    expect(traps.sprung).toEqual([]);
  });
});
