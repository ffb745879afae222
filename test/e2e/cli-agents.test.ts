import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { buildCommand, CliHome } from "../support/cli.js";

let home: CliHome;
beforeAll(buildCommand);
beforeEach(() => {
  home = new CliHome();
  mkdirSync(home.data, { recursive: true, mode: 0o700 });
  const demo = { chat: { provider: "demo" } };
  const agents = [
    {
      ...demo,
      agentId: "lead",
      displayName: "Lead",
      description: "Hands work on.",
      systemPrompt: "You lead.\nBe\u001b brief.",
      toolAllowlist: ["agents_*", "files_read"],
      toolDenylist: ["files_write"],
      capabilityAllowlist: ["agents.*"],
      toolExposure: "mixed",
      skillDenylist: ["notes"],
      agentAllowlist: ["worker*"],
      toolApprovals: { allow: ["files_read"], ask: ["bash"] },
    },
    { ...demo, agentId: "worker", extends: "lead", displayName: "Worker", agentAllowlist: [] },
    { ...demo, agentId: "worker-hidden", uiVisible: false },
    { agentId: "keyless" },
  ];
  writeFileSync(join(home.data, "heddle.config.json"), JSON.stringify({ agents }));
});
afterEach(() => home.remove());

test("[CLI195] of one agent: its limits, how tools are shown to it, what is asked, and whom it hands work to", async () => {
  expect(await home.ok("agents", "lead")).toBe(
    [
      "Lead  lead",
      "Hands work on.",
      "state         available",
      "origin        heddle.config.json",
      "provider      demo",
      "model         demo",
      "tools         agents_*, files_read, but not files_write",
      "capabilities  agents.*",
      "exposure      as tools and as skills",
      "skills        of every plugin, but not notes",
      "not asked     files_read",
      "asks before   bash",
      "agents        worker*",
      "hands on to   worker",
      "told first    You lead.",
      "              Be^[ brief.",
      "",
    ].join("\n"),
  );
  const worker = await home.ok("agents", "worker");
  expect(worker).toMatch(/^extends +lead$/m);
  expect(worker).toMatch(/^agents +none$/m);
  expect(worker).toMatch(/^hands on to +nobody$/m);
  expect(await home.ok("agents", "worker-hidden")).toMatch(/^state +available {2}hidden$/m);
  expect(await home.ok("agents", "keyless")).toMatch(/^state +It needs an API key: .*OPENAI_API_KEY/m);
});

test("[CLI195] as JSON everything it has, and one that there is not is refused with those there are", async () => {
  const { agent } = await home.json("agents", "lead");
  expect(agent).toEqual({
    agent_id: "lead",
    display_name: "Lead",
    description: "Hands work on.",
    type: "chat",
    provider: "demo",
    model: "demo",
    available: true,
    color: expect.any(String),
    origin: "config",
    system_prompt: "You lead.\nBe\u001b brief.",
    tool_allowlist: ["agents_*", "files_read"],
    tool_denylist: ["files_write"],
    capability_allowlist: ["agents.*"],
    skill_denylist: ["notes"],
    agent_allowlist: ["worker*"],
    tool_exposure: "mixed",
    tool_approvals: { allow: ["files_read"], ask: ["bash"], deny: [] },
    peers: ["worker"],
  });
  const { code, stderr } = await home.run(["agents", "nobody", "--json"]);
  expect(code).toBe(1);
  expect(JSON.parse(stderr).error).toMatchObject({
    kind: "agent.not_found",
    known: ["lead", "worker", "keyless"],
  });
});
