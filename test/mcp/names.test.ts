import { expect, test } from "vitest";
import { sha256 } from "../../src/base/index.js";
import { serverKeys, toolNames } from "../../src/tools/mcp/names.js";
import { McpStage, scripted } from "../support/mcp-stage.js";

const hash = (text: string) => sha256(text).slice(0, 8);
const named = (server: string, tools: string[], others: string[] = []) =>
  Object.fromEntries(toolNames({ server, key: serverKeys([server]).get(server) as string }, tools, others));

test("[MCP20] a tool is called mcp_<server>_<tool>, in small letters, digits and underscores, with 64 characters at most", () => {
  expect(named("Git-Hub", ["list_issues", "Get.File", "système"])).toEqual({
    list_issues: "mcp_git_hub_list_issues",
    "Get.File": "mcp_git_hub_get_file",
    système: "mcp_git_hub_syst_me",
  });
  const long = "x".repeat(200);
  const { [long]: cut } = named("one", [long]);
  expect(cut).toBe(`mcp_one_${"x".repeat(47)}_${hash(`one\n${long}`)}`);
  expect(cut).toHaveLength(64);
  for (const odd of ["日本", "...", "_"]) {
    expect(named("one", [odd])[odd]).toMatch(/^mcp_one_[a-z0-9_]*_[0-9a-f]{8}$/);
  }
});

test("[MCP21] no two tools have one name: what could be mistaken for another gets a hash of what it was", () => {
  expect(named("one", ["get_a", "get-a", "Get.A"])).toEqual({
    get_a: "mcp_one_get_a",
    "get-a": `mcp_one_get_a_${hash("one\nget-a")}`,
    "Get.A": `mcp_one_get_a_${hash("one\nGet.A")}`,
  });
  expect(named("a", ["b_c", "d"], ["a_b"])).toEqual({ b_c: `mcp_a_b_c_${hash("a\nb_c")}`, d: "mcp_a_d" });
  expect(Object.fromEntries(serverKeys(["A_b", "a-b", "a_b"]))).toEqual({
    a_b: "a_b",
    A_b: `a_b_${hash("A_b")}`,
    "a-b": `a_b_${hash("a-b")}`,
  });
  expect(serverKeys(["a_b"], ["a_b"]).get("a_b")).toBe(`a_b_${hash("a_b")}`);
});

test("[MCP21] servers whose names look alike both have their tools, also one of a workspace and one of all", async () => {
  const stage = new McpStage();
  const tools = [{ name: "c" }, { name: "b_c" }];
  stage.servers.set({ "a-b": scripted({ tools }), a_b: scripted({ tools }), a: scripted({ tools }) });
  stage.servers.set({ "A-b": scripted({ tools }), b: scripted({ tools }) }, "wks_1");
  for (const name of ["a-b", "a_b", "a", "A-b", "b"]) await stage.until(name, "ready");
  expect(stage.names("wks_1")).toHaveLength(10);
  expect(new Set(stage.names("wks_1")).size).toBe(10);
  const capability = (name: string) => stage.tools.get(name, "wks_1")?.capabilities;
  expect(capability("mcp_a_b_c")).toEqual(["mcp.a_b"]);
  expect(capability(`mcp_a_b_c_${hash("a\nb_c")}`)).toEqual(["mcp.a"]);
  expect(await stage.call(`mcp_a_b_${hash("a-b")}_c`)).toMatchObject({ output: "c: {}" });
});

test("[MCP21] a name that a tool of Heddle has already is not taken from it", async () => {
  const stage = new McpStage();
  const { z } = await import("zod");
  stage.tools.register({
    name: "mcp_one_echo",
    description: "",
    parameters: z.object({}),
    capabilities: ["own"],
    safeToRepeat: true,
    run: () => ({ status: "completed", output: "own" }),
  });
  stage.servers.set({ one: scripted({ tools: [{ name: "echo" }] }) });
  await stage.until("one", "ready");
  expect(stage.names()).toEqual(["mcp_one_echo", `mcp_one_echo_${hash("one\necho")}`]);
  expect((await stage.call("mcp_one_echo")).output).toBe("own");
});
