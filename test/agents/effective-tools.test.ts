import fc from "fast-check";
import picomatch from "picomatch";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { effectiveTools } from "../../src/agents/index.js";
import { startApp } from "../../src/app/index.js";
import { defineTool, type ListedTool, type ToolDefinition, ToolRegistry } from "../../src/tools/index.js";
import { McpStage, scripted } from "../support/mcp-stage.js";
import { temporaryDirectory } from "../support/stores.js";

const LISTS = ["toolAllowlist", "toolDenylist", "capabilityAllowlist", "capabilityDenylist"] as const;
type List = (typeof LISTS)[number];
type Scope = Readonly<Record<List, readonly string[] | null>>;

/** The ruling: nothing but globs. */
function matchGlob(pattern: string, text: string): boolean {
  const matches = matchers.get(pattern) ?? picomatch(pattern, { nonegate: true, dot: true, noextglob: true });
  matchers.set(pattern, matches);
  return matches(text);
}

const matchers = new Map<string, (text: string) => boolean>();

/** 002, "Enforcement", as it is written there, for the agent of the session. */
function getEffectiveTools(agent: Scope, allTools: readonly ListedTool[]): readonly ListedTool[] {
  if (
    !agent.toolAllowlist &&
    !agent.toolDenylist &&
    !agent.capabilityAllowlist &&
    !agent.capabilityDenylist
  ) {
    return allTools;
  }
  return allTools.filter(
    (tool) =>
      tool.name.startsWith("system_") ||
      ((!agent.toolAllowlist || agent.toolAllowlist.some((pattern) => matchGlob(pattern, tool.name))) &&
        // biome-ignore lint/complexity/useOptionalChain: as 002 has it
        (!agent.toolDenylist || !agent.toolDenylist.some((pattern) => matchGlob(pattern, tool.name))) &&
        (!tool.capabilities ||
          tool.capabilities.length === 0 ||
          ((!agent.capabilityAllowlist ||
            tool.capabilities.every((capability) =>
              agent.capabilityAllowlist?.some((pattern) => matchGlob(pattern, capability)),
            )) &&
            (!agent.capabilityDenylist ||
              !tool.capabilities.some((capability) =>
                agent.capabilityDenylist?.some((pattern) => matchGlob(pattern, capability)),
              ))))),
  );
}

// Few letters, so that patterns meet names often.
const word = fc.string({ unit: fc.constantFrom("a", "b", "_"), minLength: 1, maxLength: 3 });
const name = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom("a", "b"), word).map((parts) => parts.join("_")) },
  { weight: 1, arbitrary: word.map((text) => `system_${text}`) },
  { weight: 1, arbitrary: fc.constantFrom("system", "asystem_a", "constructor", "bash") },
);
const capability = fc.tuple(fc.constantFrom("a", "b", "mcp"), word).map((parts) => parts.join("."));
const piece = fc.constantFrom(
  "a",
  "b",
  "_",
  ".",
  "*",
  "?",
  "[ab]",
  "{a,b}",
  "**",
  "a_*",
  "*.a",
  "!a",
  "+(a)",
);
const glob = fc
  .array(piece, { minLength: 1, maxLength: 4 })
  .map((pieces) => pieces.join(""))
  .filter((pattern) => !pattern.startsWith("!"));
const list = fc.option(fc.array(glob, { maxLength: 3 }), { freq: 2 });
const scope: fc.Arbitrary<Scope> = fc.record({
  toolAllowlist: list,
  toolDenylist: list,
  capabilityAllowlist: list,
  capabilityDenylist: list,
});
const listed = fc
  .uniqueArray(fc.tuple(name, fc.array(capability, { minLength: 1, maxLength: 3 })), {
    selector: ([text]) => text,
    maxLength: 8,
  })
  .map((pairs) => pairs.map(([text, capabilities]) => toolOf(text, capabilities)));

function toolOf(text: string, capabilities: readonly string[]): ListedTool {
  return { name: text, description: "", parameters: {}, capabilities, safeToRepeat: true };
}

const namesOf = (agent: Scope & { toolApprovals?: Approvals }, tools: readonly ListedTool[]) =>
  effectiveTools(agent, tools)
    .filter(({ offered }) => offered)
    .map(({ tool }) => tool.name);

type Approvals = Readonly<Record<"allow" | "ask" | "deny", readonly string[]>>;

/** The same agent with one pattern more in a deny list, or one less in an allow list, or an allow list where it had none. */
function* stricterThan(agent: Scope, pattern: string, deny: readonly string[]) {
  yield { ...agent, toolApprovals: { allow: ["*"], ask: [], deny } };
  for (const key of ["toolDenylist", "capabilityDenylist"] as const)
    yield { ...agent, [key]: [...(agent[key] ?? []), pattern] };
  for (const key of ["toolAllowlist", "capabilityAllowlist"] as const) {
    const patterns = agent[key];
    if (patterns === null) yield { ...agent, [key]: [pattern] };
    else for (const at of patterns.keys()) yield { ...agent, [key]: patterns.toSpliced(at, 1) };
  }
}

const RUNS = { numRuns: 2_000 };

describe("which tools an agent may use", () => {
  test("[SCP1] they are those that 002's function answers, whatever the agent, the tools and the globs", () => {
    fc.assert(
      fc.property(scope, listed, (agent, tools) => {
        expect(namesOf(agent, tools)).toEqual(getEffectiveTools(agent, tools).map((tool) => tool.name));
      }),
      RUNS,
    );
  });

  test("[SCP1] null sets no limit, [] allows nothing, deny comes after allow, and a glob is nothing more than a glob", () => {
    const none: Scope = {
      toolAllowlist: null,
      toolDenylist: null,
      capabilityAllowlist: null,
      capabilityDenylist: null,
    };
    const tools = [toolOf("a_b", ["a.x"]), toolOf("aa_b", ["b.x"]), toolOf("system_a", [])];
    const cases: [Partial<Scope>, string[]][] = [
      [{}, ["a_b", "aa_b", "system_a"]],
      [{ toolAllowlist: [] }, ["system_a"]],
      [{ capabilityAllowlist: [] }, ["system_a"]],
      [{ toolDenylist: [], capabilityDenylist: [] }, ["a_b", "aa_b", "system_a"]],
      [{ toolAllowlist: ["*"], toolDenylist: ["*"] }, ["system_a"]],
      [{ toolAllowlist: ["a_*"] }, ["a_b", "system_a"]],
      [{ toolAllowlist: ["A_B", " a_b", "a_b "] }, ["system_a"]],
      // Neither "everything but", nor "one or more".
      [{ toolAllowlist: ["!(x)", "+(a)_b"] }, ["system_a"]],
      [{ toolDenylist: ["!(x)", "system_*"] }, ["a_b", "aa_b", "system_a"]],
      [{ capabilityDenylist: ["*.x"] }, ["system_a"]],
      [{ capabilityAllowlist: ["a*"] }, ["a_b", "system_a"]],
    ];
    for (const [given, wanted] of cases)
      expect(namesOf({ ...none, ...given }, tools), JSON.stringify(given)).toEqual(wanted);
  });

  test("[SCP2] for each one that is left out, the list that is named is one that keeps it out", () => {
    fc.assert(
      fc.property(scope, listed, (agent, tools) => {
        for (const { tool, offered, reason } of effectiveTools(agent, tools)) {
          expect(offered).toBe(reason === undefined);
          if (reason === undefined) continue;
          const culprit = LISTS.find((text) => reason.replace(/ \(.*\)$/, "").endsWith(text)) as List;
          // With every other list lifted it is still kept out; with this one lifted alone, that reason is gone.
          const alone = Object.fromEntries(
            LISTS.map((text) => [text, text === culprit ? agent[text] : null]),
          );
          expect(getEffectiveTools(alone as Scope, [tool]), reason).toEqual([]);
          const [lifted] = effectiveTools({ ...agent, [culprit]: null }, [tool]);
          expect(lifted?.reason).not.toBe(reason);
        }
      }),
      RUNS,
    );
  });

  test("[SCP3] nothing that makes a list stricter adds a tool", () => {
    const approvals = fc.array(glob, { maxLength: 2 });
    fc.assert(
      fc.property(scope, listed, glob, approvals, (agent, tools, pattern, deny) => {
        const before = namesOf(agent, tools);
        for (const scope of stricterThan(agent, pattern, deny))
          for (const text of namesOf(scope, tools)) expect(before, JSON.stringify(scope)).toContain(text);
      }),
      { numRuns: 500 },
    );
  });
});

const definition = (text: string, capabilities: readonly string[], more: object = {}): ToolDefinition =>
  defineTool({
    name: text,
    description: "Does something.",
    parameters: z.strictObject({}),
    capabilities,
    safeToRepeat: true,
    run: () => ({ status: "completed", output: "done" }),
    ...more,
  });

const pluginOf = (...tools: readonly ToolDefinition[]) => ({ id: "p", title: "P", description: "", tools });

describe("which tools there can be", () => {
  const refused = [
    ["tool.no_capability", definition("plain", [])],
    ["tool.invalid_definition", definition("plain", [""])],
    ["tool.invalid_definition", definition("plain", [" "])],
    ["tool.invalid_definition", definition("plain", undefined as never)],
    ["tool.name_reserved", definition("system_time", [])],
    ["tool.name_reserved", definition("system_bash", ["bash"])],
    ["tool.name_reserved", definition("system_", ["x"], { builtIn: true, system: true })],
    ["tool.invalid_definition", definition("System_x", ["x"])],
    ["tool.invalid_definition", definition("system_x ", ["x"])],
    ["tool.invalid_definition", definition("__proto__", ["x"])],
  ] as const;

  test("[SCP4] one without a capability, or that calls itself system_*, is registered in no way", () => {
    for (const [kind, tool] of refused) {
      const tools = new ToolRegistry();
      for (const attempt of [
        () => tools.register(tool),
        () => tools.register(definition("fine", ["x"]), tool),
        () => tools.setPlugin(pluginOf(tool)),
        () => tools.setPlugin(pluginOf(definition("fine", ["x"]), tool), "wks_1"),
      ]) {
        expect(attempt).toThrow(expect.objectContaining({ kind }));
      }
      expect([tools.list(), tools.list("wks_1"), tools.plugins("wks_1")]).toEqual([[], [], []]);
    }
  });

  test("[SCP4] the gateway does not start with such a tool", async () => {
    for (const [kind, tool] of refused.slice(0, 6)) {
      const given = { dataDir: temporaryDirectory(), logLevel: "silent", tools: [tool] };
      await expect(startApp(given)).rejects.toMatchObject({ kind });
    }
  });

  test("[SCP4] what an MCP server calls system_*, or by the name of another tool, is a tool of that server and no more", async () => {
    const stage = new McpStage();
    stage.tools.register(definition("bash", ["bash"]));
    const tools = ["system_time", "bash", "SYSTEM_X", "../bash", "mcp_evil_bash"].map((text) => ({
      name: text,
    }));
    stage.servers.set({ evil: scripted({ tools }), system: scripted({ tools }) });
    await Promise.all(["evil", "system"].map((server) => stage.until(server, "ready")));
    const theirs = stage.tools.list().filter(({ plugin }) => plugin !== undefined);
    expect(theirs).toHaveLength(10);
    for (const { name: text, capabilities } of theirs) {
      expect(text).toMatch(/^mcp_(evil|system)_/);
      expect(capabilities).toEqual([text.startsWith("mcp_evil_") ? "mcp.evil" : "mcp.system"]);
    }
    const none: Scope = {
      toolAllowlist: null,
      toolDenylist: null,
      capabilityAllowlist: null,
      capabilityDenylist: ["mcp.*"],
    };
    expect(namesOf(none, stage.tools.list())).toEqual(["bash"]);
    expect(stage.tools.get("bash")?.capabilities).toEqual(["bash"]);
  });
});
