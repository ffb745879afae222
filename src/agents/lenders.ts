import { whyUnavailable } from "./availability.js";
import type { AgentDefinition } from "./definition.js";

const peers = new WeakMap<AgentDefinition, readonly AgentDefinition[]>();

/** Agents that stand in one list lend each other what their providers need. */
export function joinPeers(agents: readonly AgentDefinition[]): void {
  for (const agent of agents) peers.set(agent, agents);
}

export interface Wanted {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
}

/**
 * Whose key and address a request of an agent may use: its own with its own provider, whatever is wrong with them; with
 * another provider those of the agents that have it and can be asked.
 */
export function lendersFor(agent: AgentDefinition, { provider, model }: Wanted): readonly AgentDefinition[] {
  if (provider === undefined || provider === agent.chat.provider || agent.type === "external") return [agent];
  return (peers.get(agent) ?? []).filter(
    (other) => other.type === "chat" && other.chat.provider === provider && !whyUnavailable(other, model),
  );
}
