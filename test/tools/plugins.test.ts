import { expect, test } from "vitest";
import { z } from "zod";
import { type HeddleError, systemClock } from "../../src/base/index.js";
import { defineTool, type Plugin, ToolRegistry } from "../../src/tools/index.js";

/** What was thrown. */
function refusal(work: () => void): HeddleError {
  try {
    work();
  } catch (error) {
    return error as HeddleError;
  }
  throw new Error("it was not refused");
}

const tool = (name: string, more: object = {}) =>
  defineTool({
    name,
    description: `Does ${name}.`,
    parameters: z.strictObject({}),
    capabilities: ["test"],
    safeToRepeat: true,
    run: () => ({ status: "completed" as const, output: name }),
    ...more,
  });

const plugin = (id: string, ...names: string[]): Plugin => ({
  id,
  title: id,
  description: `The ${id} plugin.`,
  tools: names.map((name) => tool(name)),
});

const names = (registry: ToolRegistry, workspace_id?: string) =>
  registry.list(workspace_id).map(({ name }) => name);

test("[TLS6] a plugin comes with all its tools, is replaced whole, and goes with all of them", () => {
  const registry = new ToolRegistry();
  registry.register(tool("lone"));
  registry.setPlugin({ ...plugin("notes", "notes_b", "notes_a"), guide: "Use them." });
  expect(names(registry)).toEqual(["lone", "notes_a", "notes_b"]);
  expect(registry.list().map((one) => one.plugin)).toEqual([undefined, "notes", "notes"]);
  expect(registry.plugins()).toEqual([
    {
      id: "notes",
      title: "notes",
      description: "The notes plugin.",
      guide: "Use them.",
      tools: ["notes_a", "notes_b"],
    },
  ]);
  registry.setPlugin(plugin("notes", "notes_a", "notes_c"));
  expect(names(registry)).toEqual(["lone", "notes_a", "notes_c"]);
  expect(registry.get("notes_b")).toBeUndefined();
  registry.removePlugin("notes");
  registry.removePlugin("notes");
  expect(names(registry)).toEqual(["lone"]);
  expect(registry.plugins()).toEqual([]);
});

test("[TLS7] a plugin with a tool that can't be registered, or whose name is taken, changes nothing", () => {
  const registry = new ToolRegistry();
  registry.register(tool("lone"));
  registry.setPlugin(plugin("notes", "notes_a"));
  const refused = (given: Plugin, workspace_id?: string) =>
    refusal(() => registry.setPlugin(given, workspace_id)).kind;
  expect(refused(plugin("more", "more_a", "lone"))).toBe("tool.name_taken");
  expect(refused(plugin("more", "more_a", "notes_a"))).toBe("tool.name_taken");
  expect(refused(plugin("more", "more_a", "more_a"))).toBe("tool.name_taken");
  expect(refused(plugin("more", "more_a", "notes_a"), "ws_1")).toBe("tool.name_taken");
  expect(
    refused({ ...plugin("notes"), tools: [tool("notes_x"), tool("notes_y", { capabilities: [] })] }),
  ).toBe("tool.no_capability");
  expect(refused(plugin("sly", "system_sly"))).toBe("tool.name_reserved");
  expect(names(registry)).toEqual(["lone", "notes_a"]);
});

test("[TLS8] a plugin of one workspace is there only, for its list, its calls and the nearest name", async () => {
  const registry = new ToolRegistry();
  registry.setPlugin(plugin("notes", "notes_a"));
  registry.setPlugin(plugin("mcp-x", "mcp_x_go"), "ws_1");
  registry.setPlugin(plugin("mcp-x", "mcp_x_go"), "ws_2");
  expect(names(registry)).toEqual(["notes_a"]);
  expect(names(registry, "ws_1")).toEqual(["mcp_x_go", "notes_a"]);
  expect(names(registry, "ws_3")).toEqual(["notes_a"]);
  expect(refusal(() => registry.setPlugin(plugin("other", "mcp_x_go"))).kind).toBe("tool.name_taken");
  const call = (workspace_id: string) =>
    registry.call("mcp_x_go", {}, { workspace_id, signal: new AbortController().signal, clock: systemClock });
  expect(await call("ws_1")).toMatchObject({ status: "completed", output: "mcp_x_go" });
  expect(await call("ws_3")).toMatchObject({ status: "failed", output: expect.stringContaining("no tool") });
  registry.removePlugin("mcp-x", "ws_1");
  expect(names(registry, "ws_1")).toEqual(["notes_a"]);
  expect(names(registry, "ws_2")).toEqual(["mcp_x_go", "notes_a"]);
});

test("[TLS9] a list that did not change is the same object, so that what was worked out for it holds", () => {
  const registry = new ToolRegistry();
  registry.setPlugin(plugin("notes", "notes_a"));
  const before = registry.list("ws_1");
  expect(registry.list("ws_1")).toBe(before);
  registry.setPlugin(plugin("lists", "lists_a"));
  expect(registry.list("ws_1")).not.toBe(before);
});
