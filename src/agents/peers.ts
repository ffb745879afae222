import type { AgentSet } from "./agent-set.js";
import type { AgentDefinition } from "./definition.js";
import { allowed, denied } from "./globs.js";

/** The agents that one sees and may hand work to, by id. */
export function peersOf(set: AgentSet, from: AgentDefinition): readonly AgentDefinition[] {
  return set.all
    .filter((other) => other.agentId !== from.agentId && whyHidden(from, other) === undefined)
    .toSorted((a, b) => (a.agentId < b.agentId ? -1 : 1));
}

/** Why one agent may not hand work to another; undefined when it may. A hidden agent is as if it were not there. */
export function whyHidden(from: AgentDefinition, other: AgentDefinition): string | undefined {
  if (!other.uiVisible) return "there is no such agent";
  if (!allowed(from.agentAllowlist, other.agentId)) return "it is not in your agentAllowlist";
  if (denied(from.agentDenylist, other.agentId)) return "it is in your agentDenylist";
  return undefined;
}
