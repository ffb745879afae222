import picomatch from "picomatch";
import type { ListedTool } from "../tools/index.js";
import type { AgentDefinition } from "./definition.js";

export interface ScopedTool {
  readonly tool: ListedTool;
  readonly offered: boolean;
  /** Why it is not offered. */
  readonly reason?: string;
}

type Scope = Pick<
  AgentDefinition,
  "toolAllowlist" | "toolDenylist" | "capabilityAllowlist" | "capabilityDenylist"
>;

/** Which tools an agent may use, and why not the others. Without an agent there is no limit. */
export function effectiveTools(agent: Scope | undefined, tools: readonly ListedTool[]): ScopedTool[] {
  return tools.map((tool) => {
    const reason = agent && whyNot(agent, tool);
    return reason === undefined ? { tool, offered: true } : { tool, offered: false, reason };
  });
}

function whyNot(agent: Scope, { name, capabilities }: ListedTool): string | undefined {
  if (name.startsWith("system_")) return undefined;
  if (!allowed(agent.toolAllowlist, name)) return "not in the agent's toolAllowlist";
  if (denied(agent.toolDenylist, name)) return "in the agent's toolDenylist";
  const missing = capabilities.find((capability) => !allowed(agent.capabilityAllowlist, capability));
  if (missing !== undefined) return `its capability ${missing} is not in the agent's capabilityAllowlist`;
  const barred = capabilities.find((capability) => denied(agent.capabilityDenylist, capability));
  return barred === undefined ? undefined : `its capability ${barred} is in the agent's capabilityDenylist`;
}

function allowed(globs: readonly string[] | null, name: string): boolean {
  return globs === null || globs.some((glob) => matches(glob, name));
}

function denied(globs: readonly string[] | null, name: string): boolean {
  return globs?.some((glob) => matches(glob, name)) ?? false;
}

const known = new Map<string, (name: string) => boolean>();

/** Nothing but globs: no `!`, no extended patterns, and a dot is a character like any other. */
function matches(glob: string, name: string): boolean {
  const matcher = known.get(glob) ?? picomatch(glob, { nonegate: true, dot: true, noextglob: true });
  known.set(glob, matcher);
  return matcher(name);
}
