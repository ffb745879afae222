import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { McpStage, scripted } from "../support/mcp-stage.js";
import { temporaryDirectory } from "../support/stores.js";

test("[MCP22] a server is a plugin; its tools have its capability and schema, ask unless read-only, and say what may be repeated", async () => {
  const stage = new McpStage();
  const inputSchema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { path: { type: "string", description: "Where." } },
    required: ["path"],
  };
  stage.servers.set({
    Box: scripted({
      tools: [
        { name: "put", inputSchema, description: "Puts it.\n- carefully", annotations: { title: "Put" } },
        { name: "look", annotations: { readOnlyHint: true } },
        { name: "set", annotations: { idempotentHint: true, readOnlyHint: false } },
      ],
    }),
  });
  await stage.until("Box", "ready");
  const any = { type: "object", properties: { text: { type: "string" } } };
  const common = { capabilities: ["mcp.Box"], plugin: "mcp-Box" };
  const { $schema, ...parameters } = inputSchema;
  expect(stage.tools.list()).toEqual([
    { name: "mcp_box_look", description: "Does look.", parameters: any, safeToRepeat: true, ...common },
    {
      name: "mcp_box_put",
      title: "Put",
      description: "Puts it.\n- carefully",
      parameters,
      safeToRepeat: false,
      asks: true,
      ...common,
    },
    {
      name: "mcp_box_set",
      description: "Does set.",
      parameters: any,
      safeToRepeat: true,
      asks: true,
      ...common,
    },
  ]);
  expect(stage.tools.plugins()).toEqual([
    {
      id: "mcp-Box",
      title: "MCP server Box",
      description: "The tools of the MCP server Box.",
      tools: ["mcp_box_look", "mcp_box_put", "mcp_box_set"],
    },
  ]);
});

test("[MCP23] a tool that calls itself system_x is one of its server like any other", async () => {
  const stage = new McpStage();
  stage.servers.set({ one: scripted({ tools: [{ name: "system_x" }] }) });
  await stage.until("one", "ready");
  expect(stage.tools.list()).toMatchObject([
    { name: "mcp_one_system_x", capabilities: ["mcp.one"], asks: true },
  ]);
});

test("[MCP24] of more than 500 tools the first 500 by name are used, and people are told", async () => {
  const stage = new McpStage();
  stage.servers.set({
    one: scripted({ many: 612, pageSize: 100, tools: [{ name: "zzz" }, { name: "aaa" }] }),
  });
  expect(await stage.until("one", "ready")).toMatchObject({
    tools: 500,
    problem: "offers 614 tools, of which the first 500 by name are used",
  });
  expect(stage.names()).toHaveLength(500);
  expect(stage.names().slice(0, 2)).toEqual(["mcp_one_aaa", "mcp_one_tool_0000"]);
  expect(stage.names()).not.toContain("mcp_one_zzz");
});

test("[MCP24] a list without end is not read to its end", async () => {
  const stage = new McpStage({ listMs: 20_000 });
  stage.servers.set({ one: scripted({ many: 100_000, pageSize: 1_000 }) });
  expect(await stage.until("one", "ready", 30_000)).toMatchObject({
    tools: 500,
    problem: "offers more than 5000 tools, of which the first 500 by name are used",
  });
});

test("[MCP25] a tool without a usable schema is left out, and costs no other", async () => {
  const stage = new McpStage();
  const deep = JSON.parse(`${'{"type":"object","properties":{"a":'.repeat(40)}{}${"}}".repeat(40)}`);
  stage.servers.set({
    one: scripted({
      tools: [
        { name: "good" },
        { name: "text", inputSchema: "no schema" },
        { name: "array", inputSchema: { type: "array" } },
        { name: "listed", inputSchema: { type: "object", properties: ["a"] } },
        { name: "deep", inputSchema: deep },
        { name: "large", inputSchema: { type: "object", description: "x".repeat(70_000) } },
        { name: "good", description: "The second of this name." },
        { name: "" },
      ],
    }),
  });
  const { tools, problem } = await stage.until("one", ({ state }) => state !== "connecting");
  expect({ tools, names: stage.names() }).toEqual({ tools: 1, names: ["mcp_one_good"] });
  expect(problem).toMatch(
    /^offers tools that are left out: "text" \(.*\), "array" \(.*\), "listed" \(.*\) and 3 more$/,
  );
  expect(stage.tools.get("mcp_one_good")?.description).toBe("Does good.");
});

test("[MCP26] a description is bounded and free of control characters, however long it came", async () => {
  const stage = new McpStage();
  stage.servers.set({
    one: scripted({
      tools: [
        { name: "long", longDescription: 10_000_000 },
        { name: "odd", description: "A bell\u0007, a null\u0000, an escape\u001b[31m,\nand half \ud800." },
      ],
    }),
  });
  await stage.until("one", "ready");
  expect(stage.tools.get("mcp_one_long")?.description.length).toBeLessThanOrEqual(4_001);
  expect(stage.tools.get("mcp_one_odd")?.description).toBe(
    "A bell, a null, an escape[31m,\nand half \ufffd.",
  );
});

test("[MCP27] a list that changes is followed", async () => {
  const stage = new McpStage();
  stage.servers.set({ one: scripted({ tools: [{ name: "add", does: "add" }] }) });
  await stage.until("one", "ready");
  const before = stage.tools.list();
  expect((await stage.call("mcp_one_add")).output).toBe("added");
  await stage.until("one", ({ tools }) => tools === 2);
  expect(stage.names()).toEqual(["mcp_one_add", "mcp_one_added_0"]);
  expect(before).toHaveLength(1);
});

test("[MCP27] a list that changes all the time is read once in a while only", async () => {
  const trace = join(temporaryDirectory(), "trace");
  const stage = new McpStage({ relistMs: 400 });
  stage.servers.set({ one: scripted({ changingMs: 1, trace }) });
  await stage.until("one", "ready");
  await sleep(1_500);
  const lists = readFileSync(trace, "utf8").trim().split("\n").length;
  expect(lists).toBeGreaterThanOrEqual(3);
  expect(lists).toBeLessThanOrEqual(6);
});

test("[MCP27] the same list again is not registered again", async () => {
  const stage = new McpStage();
  stage.servers.set({ one: scripted({ tools: [{ name: "echo" }] }) });
  await stage.until("one", "ready");
  const list = stage.tools.list();
  stage.servers.set({ one: scripted({ tools: [{ name: "echo" }] }) });
  expect(stage.tools.list()).toBe(list);
});
