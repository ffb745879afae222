import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startGateway } from "../support/gateway.js";
import { postCall } from "../support/http.js";
import { agentAt, apis, calls, type RunScene, runStage, says, verifyAll } from "../support/runs.js";
import { onEitherStore, sqliteStore, temporaryDirectory } from "../support/stores.js";
import type { Wire } from "../support/wire.js";

const inventory = (window_id: string, panels: object[], selected_panel_id?: string) => ({
  window_id,
  payload: { type: "panel_inventory" as const, panels: panels as never, selected_panel_id },
});

/** The sections of a run's prompt below the base prompt, by id. */
async function sections(scene: RunScene, run_id: string): Promise<Record<string, string>> {
  const { messages } = await scene.context(run_id, 1);
  return Object.fromEntries(
    messages.flatMap(({ section_id, content }) =>
      section_id === undefined ? [] : [[section_id, String(content)]],
    ),
  );
}

async function outputs(scene: RunScene, request: number): Promise<string[]> {
  const { messages } = JSON.parse(await scene.received(request));
  return messages
    .filter(({ role }: { role: string }) => role === "tool")
    .map(({ content }: { content: string }) => content);
}

const changes = (wire: Wire) =>
  wire.notifications("artifact/changed").map(({ params: { kind, change, id } }) => ({ kind, change, id }));

onEitherStore("artifacts in runs", (kind) => {
  const stage = runStage(kind, {
    config: (url) => ({
      plugins: {},
      agents: [
        agentAt(url),
        agentAt(url, apis[0], { agentId: "reader", capabilityDenylist: ["*.write"] }),
        agentAt(url, apis[0], { agentId: "coder", toolAllowlist: ["files_*"] }),
        agentAt(url, apis[0], { agentId: "noter", toolAllowlist: ["notes_*"] }),
      ],
    }),
  });

  test("[ART50] an agent makes a list, everyone is told, and its next prompt names it", async () => {
    const scene = await stage.scene();
    const { workspace_id, wire } = scene;
    const { id } = await scene.start();
    scene.plays(calls("lists_create", { name: "Groceries", items: [{ title: "Milk" }] }), says("Made."));
    const first = await scene.answered(id, "Make a list");
    const [made] = (await outputs(scene, 1)).map((output) => JSON.parse(output));
    expect(changes(wire)).toEqual([{ kind: "list", change: "created", id: made.id }]);
    expect(await sections(scene, first.id)).not.toHaveProperty("artifact_items");
    scene.plays(says("There is one."), says("Still."));
    const second = await scene.answered(id, "Which lists are there?");
    const told = await sections(scene, second.id);
    expect(told.artifact_items).toBe(`Available artifact items:\nLists:\n- Groceries (${made.id})`);
    expect(told.message_context).toContain('<context panel-id="<panel-id>"');
    expect(told).not.toHaveProperty("artifact_panels");
    const third = await scene.answered(id, "And now?");
    expect(await sections(scene, third.id)).toEqual(told);
    const { output } = await wire.result("tool/call", {
      workspace_id,
      name: "lists_get",
      arguments: { list: "Groceries" },
    });
    expect(JSON.parse(output)).toMatchObject({ id: made.id, items: [{ title: "Milk" }] });
    await verifyAll(scene);
  });

  test("[ART51] sections of artifacts stand only in the prompts of agents that may use them", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    await scene.wire.result("tool/call", {
      workspace_id,
      name: "notes_create",
      arguments: { title: "Plan" },
    });
    await scene.wire.result("panel/event", {
      workspace_id,
      ...inventory("w1", [{ panel_id: "p", panel_type: "notes" }]),
    });
    const all = ["artifact_items", "message_context", "artifact_panels"];
    for (const [agent_id, expected] of [
      ["openai-compatible", all],
      ["reader", all],
      ["noter", all],
      ["coder", []],
    ] as const) {
      const { id } = await scene.start({ agent_id });
      scene.plays(says("Yes."));
      const run = await scene.answered(id, "Hello");
      const found = Object.keys(await sections(scene, run.id)).filter((section) => all.includes(section));
      expect(found, agent_id).toEqual(expected);
    }
  });

  test("[ART52] scoping is held where the tools are called", async () => {
    const scene = await stage.scene();
    const { workspace_id, wire } = scene;
    const { id: thread_id } = await scene.start({ agent_id: "reader" });
    scene.plays(calls("lists_create", { name: "No" }), says("Refused."));
    await scene.answered(thread_id, "Try");
    expect(await outputs(scene, 1)).toEqual([expect.stringContaining("capabilityDenylist")]);
    const refused = await wire.result("tool/call", {
      workspace_id,
      thread_id,
      name: "notes_create",
      arguments: { title: "No" },
    });
    expect(refused.status).toBe("failed");
    expect(changes(wire)).toEqual([]);
    const read = await wire.result("tool/call", { workspace_id, thread_id, name: "lists_list" });
    expect(JSON.parse(read.output)).toEqual({ lists: [] });
  });

  test("[ART53] what an agent wrote over in a note stands in the thread's record", async () => {
    const scene = await stage.scene();
    const { id } = await scene.start();
    scene.plays(
      calls("notes_create", { title: "Plan", content: "the old words" }),
      calls("notes_update", { note: "Plan", content: "new" }, "call_2"),
      says("Done."),
    );
    await scene.answered(id, "Write");
    const [, answer] = await scene.messages(id);
    expect(answer?.toolCalls?.[1]).toMatchObject({
      status: "completed",
      diff: { oldText: "the old words", newText: "new" },
    });
    await verifyAll(scene);
  });

  test("[ART54] artifacts and their ids are there after a restart", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const read = async ({ wire }: RunScene) =>
      (await wire.result("tool/call", { workspace_id, name: "lists_get", arguments: { list: "Kept" } }))
        .output;
    const args = { name: "Kept", items: [{ title: "x" }, { title: "y" }] };
    await scene.wire.result("tool/call", { workspace_id, name: "lists_create", arguments: args });
    const before = await read(scene);
    expect(JSON.parse(before).items).toHaveLength(2);
    await stage.restart();
    const after = await stage.again(scene);
    expect(await read(after)).toBe(before);
  });

  test("[PNL5] open panels stand in the prompt, an agent finds them, and they go with their connection", async () => {
    const scene = await stage.scene();
    const { workspace_id } = scene;
    const { id } = await scene.start();
    const window = await stage.gateway().wire();
    const context = { type: "list", id: "lst_1", name: "Groceries", selection: ["itm_1", "itm_2"] };
    const panels = [
      { panel_id: "lists-1", panel_type: "lists", panel_title: "Lists", context },
      { panel_id: "chat-1", panel_type: "chat" },
    ];
    const event = { workspace_id, ...inventory("w1", panels, "lists-1") };
    expect(await window.result("panel/event", event)).toEqual({ accepted: true });
    scene.plays(calls("panels_selected", { includeContext: true }), says("I see it."), says("Gone."));
    const run = await scene.answered(id, "What do I look at?");
    expect((await sections(scene, run.id)).artifact_panels).toBe(
      "Open artifacts panels:\n- lists-1: list Groceries (lst_1)",
    );
    expect((await outputs(scene, 1)).map((output) => JSON.parse(output))).toEqual([
      {
        panels: [
          {
            window_id: "w1",
            panel_id: "lists-1",
            panel_type: "lists",
            panel_title: "Lists",
            selected: true,
            context,
          },
        ],
      },
    ]);
    window.close();
    const list = async () =>
      JSON.parse((await scene.wire.result("tool/call", { workspace_id, name: "panels_list" })).output).panels;
    await expect.poll(list).toEqual([]);
    const after = await scene.answered(id, "And now?");
    expect(await sections(scene, after.id)).not.toHaveProperty("artifact_panels");
    await verifyAll(scene);
  });

  test("[PNL6] panels need a connection and a workspace that exists, and must be what they say", async () => {
    const scene = await stage.scene();
    const { workspace_id, wire } = scene;
    const event = { workspace_id, ...inventory("w1", [{ panel_id: "p", panel_type: "lists" }]) };
    expect((await postCall(stage.gateway(), "panel/event", event)).error).toMatchObject({
      code: -32600,
      data: { kind: "request.needs_connection", method: "panel/event" },
    });
    expect(await wire.error("panel/event", { ...event, workspace_id: "ws_none" })).toMatchObject({
      code: -32602,
      data: { kind: "workspace.not_found" },
    });
    for (const bad of [
      {},
      { window_id: "w" },
      inventory("", []),
      inventory("w", [{ panel_id: "p" }]),
      inventory("w", Array(101).fill({ panel_id: "p", panel_type: "lists" })),
      inventory("w", [{ panel_id: "p\0", panel_type: "lists" }]),
      { window_id: "w", payload: { type: "other", panels: [] } },
    ]) {
      expect((await wire.error("panel/event", bad)).code, JSON.stringify(bad).slice(0, 80)).toBe(-32602);
    }
    const { output } = await wire.result("tool/call", { workspace_id, name: "panels_list" });
    expect(JSON.parse(output)).toEqual({ panels: [] });
  });
});

test("[ART55] plugins.artifacts switches all four off, and each can be switched off alone", async () => {
  const stageOf = async (plugins: object) => {
    const configFile = join(temporaryDirectory(), "heddle.config.json");
    writeFileSync(configFile, JSON.stringify({ plugins }));
    const gateway = await startGateway(sqliteStore, { configFile });
    onTestFinished(() => gateway.stop());
    const wire = await gateway.wire();
    const { data } = await wire.result("tool/list", { workspace_id: gateway.home });
    const artifacts = new Set(["lists", "notes", "views", "panels"]);
    return [...new Set(data.map(({ plugin = "" }) => plugin))].filter((id) => artifacts.has(id));
  };
  expect(await stageOf({})).toEqual(["lists", "notes", "panels", "views"]);
  expect(await stageOf({ artifacts: { enabled: false } })).toEqual([]);
  expect(await stageOf({ notes: { enabled: false }, panels: { enabled: false } })).toEqual([
    "lists",
    "views",
  ]);
});
