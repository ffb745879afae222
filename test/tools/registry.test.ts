import { expect, test } from "vitest";
import { z } from "zod";
import {
  bashPlugin,
  builtInTools,
  defineBuiltInTool,
  filesPlugin,
  type ListedTool,
  type ToolDefinition,
  ToolRegistry,
} from "../../src/tools/index.js";
import { refusal } from "../hooks/support.js";
import { contextWith, registryOf, tool } from "./support.js";

test("[TLS1] a name that is no name is refused, and so is one that is taken", async () => {
  const good = ["a", "files_read", "x9_", `a${"b".repeat(63)}`];
  expect(
    registryOf(...good.map((name) => tool(name)))
      .list()
      .map(({ name }) => name),
  ).toEqual([...good].sort());
  const bad = ["", "A", "Files_read", "9a", "_a", "a-b", "a.b", "a b", "ä", "a\n", `a${"b".repeat(64)}`];
  for (const name of bad) {
    expect(await refusal(() => registryOf(tool(name)))).toMatchObject({ kind: "tool.invalid_definition" });
  }
  expect(await refusal(() => registryOf(tool("a"), tool("b"), tool("a")))).toMatchObject({
    kind: "tool.name_taken",
    data: { name: "a" },
    message: "A tool a is registered already. Give this one another name.",
  });
});

test("[TLS1] what lacks a schema or a function is refused, and the refusal says why", async () => {
  const wrong: [Partial<Record<keyof ToolDefinition, unknown>>, string][] = [
    [{ parameters: { type: "object" } }, "parameters: must be a zod object"],
    [{ parameters: z.string() }, "parameters: must be a zod object"],
    [{ parameters: z.object({ at: z.date() }) }, "Date cannot be represented"],
    [{ run: "rm -rf" }, "run: must be a function"],
    [{ safeToRepeat: undefined }, "safeToRepeat:"],
    [{ capabilities: "files.read" }, "capabilities:"],
    [{ capabilities: [""] }, "capabilities.0: must be a word"],
    [{ capabilities: ["files.read files.write"] }, "capabilities.0: must be a word"],
    [{ capabilities: ["files.read", "files/write"] }, "capabilities.1: must be a word"],
  ];
  for (const [more, problem] of wrong) {
    const { kind, message } = await refusal(() => registryOf(tool("a", more as Partial<ToolDefinition>)));
    expect(kind).toBe("tool.invalid_definition");
    expect(message).toContain(problem);
  }
  expect(await refusal(() => registryOf(null as unknown as ToolDefinition))).toMatchObject({
    kind: "tool.invalid_definition",
  });
});

test("[TLS2] a tool without a capability is refused, but for Heddle's own system tools", async () => {
  expect(await refusal(() => registryOf(tool("a", { capabilities: [] })))).toMatchObject({
    kind: "tool.no_capability",
    data: { name: "a" },
  });
  const own = defineBuiltInTool({ ...tool("a"), name: "a", capabilities: [] });
  expect(await refusal(() => registryOf(own))).toMatchObject({ kind: "tool.no_capability" });
  expect(registryOf(defineBuiltInTool(tool("system_x", { capabilities: [] }))).get("system_x")).toBeDefined();
});

test("[TLS2] names with system_ are refused to others, whatever mark they carry", async () => {
  const system = builtInTools.find(({ name }) => name === "system_time") as ToolDefinition;
  const forged = [
    tool("system_x"),
    tool("system_x", { builtIn: true, plugin: "heddle" } as Partial<ToolDefinition>),
    { ...system, name: "system_x" },
    Object.create(system) as ToolDefinition,
  ];
  for (const one of forged) {
    const { kind } = await refusal(() => registryOf(one));
    expect(["tool.name_reserved", "tool.invalid_definition"]).toContain(kind);
  }
});

test("[TLS3] several are registered together or not at all", async () => {
  const registry = registryOf(tool("a"));
  await refusal(() => registry.register(tool("b"), tool("c", { capabilities: [] })));
  await refusal(() => registry.register(tool("b"), tool("a")));
  expect(registry.list().map(({ name }) => name)).toEqual(["a"]);
});

test("[TLS3] what was registered does not change when its definition does", async () => {
  const capabilities = ["files.read"];
  const given = { ...tool("a"), capabilities } as {
    -readonly [K in keyof ToolDefinition]: ToolDefinition[K];
  };
  const registry = registryOf(given);
  const before = JSON.stringify(registry.list());
  capabilities.pop();
  Object.assign(given, { name: "b", description: "", run: () => ({ status: "completed", output: "other" }) });
  expect(JSON.stringify(registry.list())).toBe(before);
  expect(registry.get("a")?.capabilities).toEqual(["files.read"]);
  expect(registry.get("b")).toBeUndefined();
  expect((await registry.call("a", { path: "x" }, contextWith())).output).toBe('{"path":"x"}');
});

test("[TLS3] a tool that keeps something of its own finds it", async () => {
  class Counter {
    #calls = 0;
    run() {
      return { status: "completed" as const, output: String(++this.#calls) };
    }
  }
  const registry = registryOf(Object.assign(new Counter(), { ...tool("a"), run: Counter.prototype.run }));
  await registry.call("a", { path: "" }, contextWith());
  expect((await registry.call("a", { path: "" }, contextWith())).output).toBe("2");
});

test("[TLS4] the list is sorted and shows all of a tool, with a schema without $schema", () => {
  const parameters = z.object({
    path: z.string().min(1).describe("where"),
    mode: z.enum(["a", "b"]).default("a"),
  });
  const more = { title: "B", plugin: "notes", capabilities: ["notes.read"], safeToRepeat: true };
  expect(registryOf(tool("b", { ...more, parameters }), tool("a_b"), tool("a")).list()).toEqual([
    { ...listed("a"), description: "what a does" },
    { ...listed("a_b"), description: "what a_b does" },
    {
      ...more,
      name: "b",
      description: "what b does",
      parameters: {
        type: "object",
        properties: {
          path: { type: "string", minLength: 1, description: "where" },
          mode: { type: "string", enum: ["a", "b"], default: "a" },
        },
        required: ["path"],
        additionalProperties: false,
      },
    } satisfies ListedTool,
  ]);
});

function listed(name: string) {
  return {
    name,
    parameters: {
      type: "object",
      properties: {
        path: { type: "string" },
        from_line: {
          type: "integer",
          minimum: Number.MIN_SAFE_INTEGER,
          maximum: Number.MAX_SAFE_INTEGER,
        },
      },
      required: ["path"],
      additionalProperties: false,
    },
    capabilities: ["test.use"],
    safeToRepeat: false,
  };
}

test("[TLS4] the list has the same bytes each time, and nobody can write into it", () => {
  const names = ["c", "a", "b"];
  const one = registryOf(...names.map((name) => tool(name)), ...builtInTools);
  const other = new ToolRegistry();
  for (const each of [...builtInTools, ...names.sort().map((name) => tool(name))]) other.register(each);
  const bytes = JSON.stringify(one.list());
  expect(JSON.stringify(other.list())).toBe(bytes);
  const first = one.list()[0] as unknown as {
    capabilities: string[];
    parameters: { properties: Record<string, unknown> };
  };
  expect(() => first.capabilities.push("all")).toThrow();
  expect(() => Object.assign(first.parameters.properties, { more: {} })).toThrow();
  (one.list() as unknown[]).slice().pop();
  expect(JSON.stringify(one.list())).toBe(bytes);
});

test("[TLS4] the built-in tools are these", () => {
  const shown = registryOf(...builtInTools)
    .list()
    .map(({ description: _, ...rest }) => rest);
  expect(shown).toEqual([
    {
      name: "system_time",
      title: "Time",
      parameters: {
        type: "object",
        properties: {
          timezone: {
            type: "string",
            maxLength: 100,
            description: "an IANA name, Europe/Berlin for example; default UTC",
          },
        },
        additionalProperties: false,
      },
      capabilities: [],
      safeToRepeat: true,
    },
  ]);
});

test("[TLS4] the tools of the plugins files and bash are these, with these parameters", () => {
  const registry = new ToolRegistry();
  registry.setPlugin(filesPlugin);
  registry.setPlugin(bashPlugin({ environment: async () => ({ env: {}, end() {} }) }));
  const shown = registry.list().map(({ name, plugin, parameters }) => {
    const { properties, required, additionalProperties } = parameters as {
      properties: object;
      required?: string[];
      additionalProperties: boolean;
    };
    expect(additionalProperties).toBe(false);
    return [plugin, name, Object.keys(properties), required];
  });
  expect(shown).toEqual([
    ["bash", "bash", ["command", "timeout_seconds", "description"], ["command"]],
    [
      "files",
      "files_edit",
      ["path", "old_text", "new_text", "replace_all"],
      ["path", "old_text", "new_text"],
    ],
    ["files", "files_list", ["path", "depth", "glob"], undefined],
    ["files", "files_read", ["path", "from_line", "lines"], ["path"]],
    ["files", "files_search", ["pattern", "regex", "ignore_case", "path", "include"], ["pattern"]],
    ["files", "files_write", ["path", "content"], ["path", "content"]],
  ]);
});

test("[TLS5] a key that the schema does not name is refused, unless the schema takes any", async () => {
  const refined = z.object({ path: z.string() }).refine(({ path }) => path !== "no", "path must not be no");
  const registry = registryOf(
    tool("closed"),
    tool("open", { parameters: z.looseObject({ path: z.string() }) }),
    tool("refined", { parameters: refined }),
  );
  const given = { path: "x", more: 1 };
  expect(await registry.call("closed", given, contextWith())).toMatchObject({ status: "failed" });
  expect(await registry.call("open", given, contextWith())).toMatchObject({
    status: "completed",
    output: JSON.stringify(given),
  });
  expect(await registry.call("refined", given, contextWith())).toMatchObject({ status: "failed" });
  expect((await registry.call("refined", { path: "no" }, contextWith())).output).toContain(
    "path must not be no",
  );
  expect(registry.get("open")?.parameters.safeParse(given).success).toBe(true);
});
