import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { agentAt, apis, calls, KEY, type RunScene, runStage, says } from "../support/runs.js";

const limits = { toolAllowlist: ["bash", "notes_*"], toolDenylist: ["notes_delete"] };

const stage = runStage(undefined, {
  config: (url) => ({
    plugins: {},
    agents: [
      agentAt(url, apis[0], {
        agentId: "crafty",
        toolExposure: "skills",
        toolApprovals: { allow: ["bash"] },
        ...limits,
      }),
      agentAt(url, apis[0], { agentId: "social", toolExposure: "skills", skillAllowlist: ["agents"] }),
      agentAt(url, apis[0], { agentId: "shy", toolExposure: "skills", skillDenylist: ["agents"] }),
      agentAt(url, apis[0], { agentId: "mixed", toolExposure: "mixed", skillDenylist: ["lists"] }),
      agentAt(url, apis[0], { agentId: "plain", toolApprovals: { allow: ["bash"] } }),
      agentAt(url, apis[0], { agentId: "armless", toolExposure: "skills", toolDenylist: ["bash"] }),
    ],
  }),
});

async function threadOf(scene: RunScene, agent_id: string): Promise<string> {
  const { workspace_id } = scene;
  return (await scene.wire.result("thread/start", { workspace_id, agent_id })).thread.id;
}

/** The section that lists the skills, as the agent would be told. */
async function skillsSection(scene: RunScene, thread_id: string): Promise<string | undefined> {
  const { messages } = await scene.preview(thread_id, { content: "hello" });
  return messages.find(({ section_id }) => section_id === "skills")?.content as string | undefined;
}

const pathIn = (section: string | undefined, of: string) =>
  new RegExp(`^  ${of}: (.+)$`, "m").exec(section ?? "")?.[1] ?? "";

/** What the agent's bash answered to a command. */
async function bash(scene: RunScene, thread_id: string, command: string): Promise<string> {
  scene.plays(calls("bash", { command, timeout_seconds: 60 }), says("done"));
  const run = await scene.answered(thread_id, "do it");
  const { messages } = await scene.context(run.id, 2);
  const told = messages.findLast(({ role }) => role === "tool")?.content;
  return typeof told === "string" ? told : JSON.stringify(told);
}

async function notesOf({ wire, workspace_id }: RunScene): Promise<string[]> {
  const { output } = await wire.result("tool/call", { workspace_id, name: "notes_list" });
  return JSON.parse(output).notes.map(({ title }: { title: string }) => title);
}

test("[SKL6] an agent whose tools are skills is told of them and not shown the tools", async () => {
  const scene = await stage.scene();
  const thread_id = await threadOf(scene, "crafty");
  const { manifest } = await scene.preview(thread_id, { content: "hello" });
  const offered = manifest.tools.filter(({ offered }) => offered).map(({ name }) => name);
  expect(offered.filter((name) => !name.startsWith("system_"))).toEqual(["bash"]);
  const section = await skillsSection(scene, thread_id);
  expect(section?.match(/^- \w+/gm)).toEqual(["- notes"]);
  expect(manifest.sections.find(({ id }) => id === "skills")).toMatchObject({
    title: "Available CLI skills",
  });
  expect(readFileSync(pathIn(section, "SKILL.md"), "utf8")).toContain(
    "heddle tool notes_create --title <text>",
  );
  expect(pathIn(section, "CLI")).toBe(join(stage.gateway().place.dataDir, "skills", "bin", "heddle"));
});

test("[SKL6] mixed agents have both, within their skill lists; without bash, or with tools only, there are no skills", async () => {
  const scene = await stage.scene();
  const mixed = await skillsSection(scene, await threadOf(scene, "mixed"));
  expect(mixed).toContain("\n- notes:");
  expect(mixed).not.toContain("\n- lists:");
  expect(await skillsSection(scene, await threadOf(scene, "plain"))).toBeUndefined();
  expect(await skillsSection(scene, await threadOf(scene, "armless"))).toBeUndefined();
});

test("[SEC72] an agent that has agents_message as a command is told whom it can ask, and one without it is not", async () => {
  const scene = await stage.scene();
  const told = async (agent_id: string) => {
    const { messages } = await scene.preview(await threadOf(scene, agent_id), { content: "hello" });
    return messages.find(({ section_id }) => section_id === "agents")?.content;
  };
  const social = await told("social");
  expect(social).toMatch(/^Available agents you can delegate to:\n/);
  expect(social).toContain("\n- plain:");
  expect(social).toContain("Use agents_message to ask another agent to perform a task.");
  expect(await told("plain")).toContain("\n- social:");
  for (const agent_id of ["crafty", "shy", "armless"]) expect(await told(agent_id)).toBeUndefined();
});

test("[SKL7] a command that the prompt names does what the tool does", async () => {
  const scene = await stage.scene();
  const thread_id = await threadOf(scene, "crafty");
  const cli = pathIn(await skillsSection(scene, thread_id), "CLI");
  const told = await bash(
    scene,
    thread_id,
    `'${cli}' tool notes_create --title 'By hand' --content "it's here" --tags a --tags b`,
  );
  expect(told).toContain("By hand");
  expect(told).toContain("exit code 0");
  expect(await notesOf(scene)).toEqual(["By hand"]);
  expect(
    await bash(scene, thread_id, `echo '{"title": "Piped"}' | heddle tool notes_create --arguments -`),
  ).toContain("exit code 0");
  expect((await notesOf(scene)).toSorted()).toEqual(["By hand", "Piped"]);
});

test("[SKL7] a tool outside the agent's scope is refused", async () => {
  const scene = await stage.scene();
  const { wire, workspace_id } = scene;
  const thread_id = await threadOf(scene, "crafty");
  await wire.result("tool/call", { workspace_id, name: "notes_create", arguments: { title: "Stays" } });
  const commands = [
    "heddle tool notes_delete --note Stays",
    "heddle tool lists_create --name X",
    "heddle tool",
  ];
  const told = await bash(
    scene,
    thread_id,
    `${commands.map((command) => `{ ${command}; echo "code $?"; } &`).join(" ")} wait`,
  );
  expect(told).toContain("notes_delete was not called: in the agent's toolDenylist (notes_delete).");
  expect(told).toContain("lists_create was not called: not in the agent's toolAllowlist.");
  expect(told.match(/^code \d$/gm)?.toSorted()).toEqual(["code 0", "code 1", "code 1"]);
  expect(told).toMatch(/notes_delete +notes +– +in the agent's toolDenylist/);
  expect(await notesOf(scene)).toEqual(["Stays"]);
});

test("[SKL8] the command's token does nothing else, and is dead when the command has ended", async () => {
  const scene = await stage.scene();
  const { workspace_id } = scene;
  const [thread_id, other] = [await threadOf(scene, "crafty"), await threadOf(scene, "plain")];
  const asked = [
    ["run/start", { workspace_id, thread_id, content: "more" }],
    ["run/approve", { run_id: "run_1", tool_call_id: "c", decision: "allow" }],
    ["thread/list", { workspace_id }],
    ["tool/call", { workspace_id, thread_id: other, name: "notes_create", arguments: { title: "Forged" } }],
  ].map(([method, params]) => ({ jsonrpc: "2.0", id: 1, method, params }));
  const script = `for (const body of ${JSON.stringify(asked)}) {
    const headers = { Authorization: "Bearer " + process.env.HEDDLE_TOKEN };
    const answer = await fetch(process.env.HEDDLE_URL + "/rpc", { method: "POST", headers, body: JSON.stringify(body) });
    console.log(await answer.text());
  }`;
  const told = await bash(
    scene,
    thread_id,
    `'${process.execPath}' --input-type=module -e '${script}'; echo "token=$HEDDLE_TOKEN thread=$HEDDLE_THREAD"`,
  );
  expect(told.match(/"code":-32003/g)).toHaveLength(4);
  expect(await notesOf(scene)).toEqual([]);
  expect(told).toContain(`thread=${thread_id}`);
  const token = /token=(t\d+\.[\w-]+)/.exec(told)?.[1];
  const response = await fetch(`${stage.gateway().url}/rpc`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
  });
  expect(response.status).toBe(401);
});

test("[SKL9] a command sees no secret, and nothing of how the gateway was started", async () => {
  const scene = await stage.scene();
  process.env.HEDDLE_LOG_PROBE = "started";
  process.env.PROBE_API_KEY = "secret-value-123";
  try {
    const told = await bash(scene, await threadOf(scene, "plain"), "env");
    expect(told).not.toContain("PROBE");
    expect(told).not.toContain(KEY);
    expect(told).not.toContain(stage.gateway().token);
    expect(told.match(/HEDDLE_\w+(?==)/g)?.toSorted()).toEqual([
      "HEDDLE_THREAD",
      "HEDDLE_TOKEN",
      "HEDDLE_URL",
      "HEDDLE_WORKSPACE",
    ]);
  } finally {
    delete process.env.HEDDLE_LOG_PROBE;
    delete process.env.PROBE_API_KEY;
  }
});
