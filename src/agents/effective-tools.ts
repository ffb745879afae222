import type { ListedTool } from "../tools/index.js";
import type { AgentDefinition } from "./definition.js";
import { allowed, denying } from "./globs.js";

export interface ScopedTool {
  readonly tool: ListedTool;
  readonly offered: boolean;
  /** Why it is not offered. */
  readonly reason?: string;
}

type Scope = Pick<
  AgentDefinition,
  "toolAllowlist" | "toolDenylist" | "capabilityAllowlist" | "capabilityDenylist"
> &
  Partial<Pick<AgentDefinition, "toolApprovals">>;

/** Definitions and lists of tools never change, they are replaced: what was decided for the two of them holds. */
const decided = new WeakMap<Scope, WeakMap<readonly ListedTool[], readonly ScopedTool[]>>();

/** Whether lists say what it may use: then nothing that they do not know of may be used either. */
export function hasLimits(agent: Scope): boolean {
  const { toolAllowlist, toolDenylist, capabilityAllowlist, capabilityDenylist } = agent;
  return [toolAllowlist, toolDenylist, capabilityAllowlist, capabilityDenylist].some((list) => list !== null);
}

/** Which tools an agent may use, and why not the others. Without an agent there is no limit. */
export function effectiveTools(
  agent: Scope | undefined,
  tools: readonly ListedTool[],
): readonly ScopedTool[] {
  if (!agent) return tools.map((tool) => ({ tool, offered: true }));
  const ofAgent = decided.get(agent) ?? new WeakMap<readonly ListedTool[], readonly ScopedTool[]>();
  decided.set(agent, ofAgent);
  const scoped = ofAgent.get(tools) ?? tools.map((tool) => scopedFor(agent, tool));
  ofAgent.set(tools, scoped);
  return scoped;
}

function scopedFor(agent: Scope, tool: ListedTool): ScopedTool {
  const reason = whyNot(agent, tool);
  return reason === undefined ? { tool, offered: true } : { tool, offered: false, reason };
}

function whyNot(agent: Scope, { name, capabilities }: ListedTool): string | undefined {
  if (name.startsWith("system_")) return undefined;
  if (!allowed(agent.toolAllowlist, name)) return "not in the agent's toolAllowlist";
  const refusing = denying(agent.toolDenylist, name);
  if (refusing !== undefined) return `in the agent's toolDenylist (${refusing})`;
  const missing = capabilities.find((capability) => !allowed(agent.capabilityAllowlist, capability));
  if (missing !== undefined) return `its capability ${missing} is not in the agent's capabilityAllowlist`;
  for (const capability of capabilities) {
    const barring = denying(agent.capabilityDenylist, capability);
    if (barring !== undefined)
      return `its capability ${capability} is in the agent's capabilityDenylist (${barring})`;
  }
  const stopping = denying(agent.toolApprovals?.deny ?? null, name);
  return stopping === undefined ? undefined : `in the agent's toolApprovals.deny (${stopping})`;
}
