import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildCommand, CliHome } from "../support/cli.js";
import { startModelServer } from "../support/model-server/server.js";
import { KEY, runStage, says } from "../support/runs.js";
import { sampleTools } from "../support/sample-tools.js";

const sample = JSON.parse(readFileSync("test/agents/sample.config.json", "utf8")) as {
  agents: { agentId: string; displayName: string; systemPrompt: string }[];
};

/** The sample names no model and no key: both come from the environment, as they would for its user. */
const before = { ...process.env };
process.env.OPENAI_API_KEY = KEY;
const model = await startModelServer();
process.env.OPENAI_BASE_URL = `${model.url}/v1`;
afterAll(async () => {
  process.env = before;
  await model.close();
});

const plugins = {};
const stage = runStage(undefined, {
  config: () => ({ ...sample, plugins }),
  options: { tools: sampleTools },
});
const home = new CliHome();
beforeAll(buildCommand);

const ALL_TOOLS = `Available tools:
- agents_list: Lists the agents that you can ask, with what each is for.
- agents_message:`;

interface Told {
  readonly sections: readonly string[];
  readonly tools: readonly string[];
  readonly texts: readonly string[];
}

/** What an agent of the sample is told, by the manifest and the record, after both were compared with what was received. */
async function toldTo(agent_id: string): Promise<Told> {
  const scene = await stage.scene();
  const { id } = await scene.start({ agent_id });
  model.forget();
  model.play([says("ok")]);
  const run = await scene.answered(id, "hello");
  const { sections, tools } = await scene.manifest(run.id);
  const { messages, request } = await scene.context(run.id);
  const body = (await model.request(0)).body;
  expect(request.body).toBe(body);
  const texts = messages
    .filter(({ section_id }) => section_id !== undefined)
    .map(({ content }) => String(content));
  const sent = JSON.parse(body) as {
    input: { role: string; content: unknown }[];
    tools?: { name: string }[];
  };
  const system = sent.input.filter(({ role }) => role === "system" || role === "developer");
  expect(system.map(({ content }) => content).join("\n\n")).toBe(texts.join("\n\n"));
  const offered = tools.filter((tool) => tool.offered).map(({ name }) => name);
  expect((sent.tools ?? []).map(({ name }) => name)).toEqual(offered);
  const { url, token } = stage.gateway();
  const explained = await home.ok("explain", run.id, "--url", url, "--token", token);
  for (const { title } of sections) expect(explained).toContain(`\n${title} `);
  return { sections: sections.map(({ id }) => id), tools: offered, texts };
}

const promptOf = (agentId: string) => sample.agents.find((agent) => agent.agentId === agentId)?.systemPrompt;

test("[SMP1] the reading list's agent has its base prompt, its tools within both lists, and skills only with bash", async () => {
  const told = await toldTo("reading-list");
  expect(told.tools).toEqual(["reading_list_list", "reading_list_search", "system_time"]);
  expect(told.sections).toEqual(["base", "tools"]);
  expect(told.texts).toEqual([
    promptOf("reading-list"),
    "Available tools:\n- reading_list_list: Does reading list list.\n- reading_list_search: Does reading list search.",
  ]);
});

test("[SMP2] todo and journal have their own tools and nobody to delegate to, since agents_message is not theirs", async () => {
  const todo = await toldTo("todo");
  expect(todo.tools).toEqual(["system_time", "todo_add", "todo_list"]);
  expect(todo.texts).toEqual([
    promptOf("todo"),
    "Available tools:\n- todo_add: Does todo add.\n- todo_list: Does todo list.",
  ]);
  const journal = await toldTo("journal");
  expect(journal.tools).toEqual(["journal_write", "system_time"]);
  expect(journal.texts).toEqual([
    promptOf("journal"),
    "Available tools:\n- journal_write: Does journal write.",
  ]);
});

test("[SMP3] the general agent has every tool, the message context, and the other three to delegate to", async () => {
  const { sections, tools, texts } = await toldTo("general");
  expect(sections).toEqual(["base", "tools", "message_context", "agents"]);
  expect(tools).toEqual(
    expect.arrayContaining([
      "agents_message",
      "bash",
      "files_read",
      "lists_list",
      "notes_create",
      "panels_list",
      "reading_list_delete",
      "todo_add",
      "views_list",
    ]),
  );
  expect(texts[0]).toBe(promptOf("general"));
  expect(texts[1]).toContain(ALL_TOOLS);
  expect(texts[1]).not.toContain("system_");
  expect(texts[2]).toMatch(/^Message Context:\n/);
  expect(texts[3]).toBe(
    `Available agents you can delegate to:
- journal: Personal Journal
- reading-list: Reading List Manager
- todo: Todo Manager

Use agents_message to ask another agent to perform a task.`,
  );
});

test("[SMP4] lists, notes and open panels stand in the general agent's prompt once there are any, and in no other's", async () => {
  const scene = await stage.scene();
  const { workspace_id, wire } = scene;
  const call = (name: string, given: object) =>
    wire.result("tool/call", { workspace_id, name, arguments: given as never });
  expect(await call("lists_create", { name: "Groceries" })).toMatchObject({ status: "completed" });
  expect(await call("notes_create", { title: "Diary" })).toMatchObject({ status: "completed" });
  const panel = {
    panel_id: "p1",
    panel_type: "lists",
    context: { type: "list", id: "lst_1", name: "Groceries" },
  };
  await wire.result("panel/event", {
    workspace_id,
    window_id: "w1",
    payload: { type: "panel_inventory", panels: [panel] },
  });
  const sectionsOf = async (agent_id: string) => {
    const { id } = await scene.start({ agent_id });
    model.play([says("ok")]);
    const run = await scene.answered(id, "hello");
    return (await scene.manifest(run.id)).sections.map((section) => section.id);
  };
  expect(await sectionsOf("general")).toEqual([
    "base",
    "tools",
    "artifact_items",
    "message_context",
    "artifact_panels",
    "agents",
  ]);
  expect(await sectionsOf("todo")).toEqual(["base", "tools"]);
});
