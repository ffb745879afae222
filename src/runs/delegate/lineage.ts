import type { AgentDefinition, AgentSet } from "../../agents/index.js";
import { peersOf, whyHidden } from "../../agents/index.js";
import type { Origin } from "../fold/events.js";
import type { ActiveRun } from "../fold/state.js";

/** How far a run is from a person, and through whom. */
export interface Lineage {
  readonly depth: number;
  readonly hops: number;
  /** The agents above it, the one that a person asked first. */
  readonly agents: readonly string[];
}

const PERSON: Lineage = { depth: 0, hops: 0, agents: [] };

export function lineageOf(active: Pick<ActiveRun, "origin" | "hops"> | undefined): Lineage {
  if (!active) return PERSON;
  const { depth, hops, agents } = active.origin ?? PERSON;
  return { depth, hops: Math.max(hops, active.hops ?? 0), agents };
}

/** The lineage of the thread that gets a result back: it is the caller's again, one result further. */
export function lineageOfCaller({ depth, hops, agents }: Origin): Lineage {
  return { depth: Math.max(0, depth - 1), hops: hops + 1, agents: agents.slice(0, -1) };
}

/** Why an agent may not hand work to another now, in words for the model; undefined when it may. */
export function whyNotDelegated(
  set: AgentSet,
  from: AgentDefinition,
  to: string,
  lineage: Lineage,
): string | undefined {
  if (to === from.agentId) return "You can't delegate to yourself. Do it with your own tools.";
  const target = set.get(to);
  const hidden = target ? whyHidden(from, target) : "there is no such agent";
  if (!target || hidden !== undefined)
    return `You can't delegate to ${quoted(to)}: ${hidden}. ${known(set, from)}`;
  const { maxDelegationDepth, maxDelegationHops } = set.limits;
  if (lineage.agents.includes(to)) {
    const chain = [...lineage.agents, from.agentId, to].join(" → ");
    return `You can't delegate to ${quoted(to)}: it waits for you, or for somebody who waits for you (${chain}). Answer it instead.`;
  }
  if (lineage.depth >= maxDelegationDepth) return tooDeep(maxDelegationDepth);
  if (lineage.hops >= maxDelegationHops) {
    return `You can't delegate any more here: ${lineage.hops} results have come back one after the other, and limits.maxDelegationHops is ${maxDelegationHops}. Tell the user where things stand.`;
  }
  const { available, reason } = set.toWire(target);
  return available ? undefined : `${quoted(to)} can't be asked now. ${reason ?? ""}`.trim();
}

function tooDeep(limit: number): string {
  const instead = "Do it with your own tools, or say in your answer what is left to do.";
  if (limit === 0) return `You can't delegate here: limits.maxDelegationDepth is 0. ${instead}`;
  return `You can't delegate any further: limits.maxDelegationDepth is ${limit}, and you were asked by another agent yourself. ${instead}`;
}

function known(set: AgentSet, from: AgentDefinition): string {
  const peers = peersOf(set, from);
  if (peers.length === 0) return "There is nobody you can delegate to.";
  return `You can delegate to: ${peers.map(({ agentId }) => agentId).join(", ")}.`;
}

function quoted(text: string): string {
  return JSON.stringify(text.slice(0, 128).toWellFormed());
}
