import { expect, test } from "vitest";
import type { ListedTool } from "../tools/index.js";
import { effectiveTools } from "./effective-tools.js";

const tool = (name: string, ...capabilities: string[]): ListedTool => ({
  name,
  description: "",
  parameters: { type: "object" },
  capabilities,
  safeToRepeat: true,
});

const tools = [
  tool("lists_add", "lists.write"),
  tool("lists_show", "lists.read"),
  tool("notes_show", "notes.read"),
  tool("system_time"),
];

const NO_LIMIT = {
  toolAllowlist: null,
  toolDenylist: null,
  capabilityAllowlist: null,
  capabilityDenylist: null,
};

function offered(scope: Partial<Record<keyof typeof NO_LIMIT, readonly string[] | null>>): string[] {
  return effectiveTools({ ...NO_LIMIT, ...scope }, tools)
    .filter((one) => one.offered)
    .map((one) => one.tool.name);
}

test("[AGT80] without lists every tool is offered; an empty list allows nothing but system tools", () => {
  expect(offered({})).toEqual(tools.map(({ name }) => name));
  expect(effectiveTools(undefined, tools).every((one) => one.offered)).toBe(true);
  expect(offered({ toolAllowlist: [] })).toEqual(["system_time"]);
  expect(offered({ capabilityAllowlist: [] })).toEqual(["system_time"]);
});

test("[AGT81] lists are globs, deny comes after allow, and every capability must be allowed", () => {
  expect(offered({ toolAllowlist: ["lists_*"] })).toEqual(["lists_add", "lists_show", "system_time"]);
  expect(offered({ toolAllowlist: ["lists_*"], toolDenylist: ["*_add"] })).toEqual([
    "lists_show",
    "system_time",
  ]);
  expect(offered({ capabilityAllowlist: ["*.read"] })).toEqual(["lists_show", "notes_show", "system_time"]);
  expect(offered({ capabilityDenylist: ["lists.*"] })).toEqual(["notes_show", "system_time"]);
  expect(offered({ toolDenylist: ["system_*"] })).toContain("system_time");
  const both = tool("mixed", "lists.read", "lists.write");
  expect(effectiveTools({ ...NO_LIMIT, capabilityAllowlist: ["lists.read"] }, [both])[0]?.offered).toBe(
    false,
  );
});

test("[AGT82] who may not use a tool is told by which list, and by which pattern of it", () => {
  const [first] = effectiveTools({ ...NO_LIMIT, toolAllowlist: ["x"] }, tools);
  expect(first?.reason).toBe("not in the agent's toolAllowlist");
  const [second] = effectiveTools({ ...NO_LIMIT, capabilityDenylist: ["x", "lists.*"] }, tools);
  expect(second?.reason).toBe("its capability lists.write is in the agent's capabilityDenylist (lists.*)");
  const [third] = effectiveTools({ ...NO_LIMIT, toolDenylist: ["notes_*", "*_add", "lists_*"] }, tools);
  expect(third?.reason).toBe("in the agent's toolDenylist (*_add)");
  const toolApprovals = { allow: [], ask: [], deny: ["lists_?dd"] };
  const [fourth] = effectiveTools({ ...NO_LIMIT, toolApprovals }, tools);
  expect(fourth?.reason).toBe("in the agent's toolApprovals.deny (lists_?dd)");
});
