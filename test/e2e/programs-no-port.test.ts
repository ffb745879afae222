import { beforeEach, expect, test } from "vitest";
import { agentNamed } from "../support/agents.js";
import { doer, doing } from "../support/programs.js";
import { type RunScene, runStage } from "../support/runs.js";
import { sqliteStore } from "../support/stores.js";

const program = doer();
// As `serve --stdio` starts it.
const stage = runStage(sqliteStore, {
  config: (url) => ({ agents: [program.agent("doer"), agentNamed(url, "model")] }),
  options: { commandsPort: false },
});
let scene: RunScene;
beforeEach(async () => {
  scene = await stage.scene();
});

const REASON = "this gateway opens no port";

test("[PRG35] where no port is opened a program is told of no tools, and manifest and tool/list say why", async () => {
  const { id } = await scene.start();
  const run = await scene.answered(id, doing({ tools: true }));
  expect(JSON.stringify((await scene.messages(id)).at(-1)?.content)).toContain("no server");
  const { tools = [], sections } = await scene.manifest(run.id);
  expect(tools.length).toBeGreaterThan(0);
  for (const tool of tools) expect(tool).toMatchObject({ offered: false, reason: REASON });
  expect(JSON.stringify(sections)).not.toMatch(/artifacts|agents_message|delegat/);
  expect(program.prompts().at(-1)).not.toMatch(/agents_message|notes_create/);
  const { data } = await scene.wire.result("tool/list", { workspace_id: scene.workspace_id, thread_id: id });
  expect(data.length).toBeGreaterThan(0);
  for (const tool of data) expect(tool).toMatchObject({ offered: false, reason: REASON });
  const { manifest } = await scene.preview(id, { content: "next" });
  expect(manifest.tools?.filter(({ offered }) => offered)).toEqual([]);
});

test("[PRG35] a model is offered its tools all the same", async () => {
  const { id } = await scene.start({ agent_id: "model" });
  const { data } = await scene.wire.result("tool/list", { workspace_id: scene.workspace_id, thread_id: id });
  expect(data.filter(({ offered }) => offered).length).toBeGreaterThan(0);
});
