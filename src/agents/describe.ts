import type { AgentDetails } from "../protocol/index.js";
import type { AgentSet } from "./agent-set.js";
import type { AgentDefinition } from "./definition.js";
import { effectiveTools } from "./effective-tools.js";
import { peersOf } from "./peers.js";

/** An agent with everything a person may want to know of it. A list that sets no limit is left out; no secret is in it. */
export function describeAgent(set: AgentSet, agent: AgentDefinition): AgentDetails {
  const lists = Object.entries(SHOWN).flatMap(([key, name]) => {
    const globs = agent[key as keyof typeof SHOWN];
    return globs === null ? [] : [[name, [...globs]]];
  });
  const { allow, ask, deny } = agent.toolApprovals;
  return {
    ...set.toWire(agent),
    ...(agent.extends !== undefined && { extends: agent.extends }),
    ...(agent.systemPrompt !== undefined && { system_prompt: agent.systemPrompt }),
    ...Object.fromEntries(lists),
    tool_exposure: agent.toolExposure,
    tool_approvals: { allow: [...allow], ask: [...ask], deny: [...deny] },
    peers: delegates(agent) ? peersOf(set, agent).map(({ agentId }) => agentId) : [],
  };
}

/** Whoever may not use the tool for it hands work to nobody, whomever it sees. */
function delegates(agent: AgentDefinition): boolean {
  const tool = { name: "agents_message", capabilities: ["agents.message"] };
  const listed = { ...tool, description: "", parameters: {}, safeToRepeat: true };
  return effectiveTools(agent, [listed]).some(({ offered }) => offered);
}

const SHOWN = {
  toolAllowlist: "tool_allowlist",
  toolDenylist: "tool_denylist",
  capabilityAllowlist: "capability_allowlist",
  capabilityDenylist: "capability_denylist",
  skillAllowlist: "skill_allowlist",
  skillDenylist: "skill_denylist",
  agentAllowlist: "agent_allowlist",
  agentDenylist: "agent_denylist",
} as const;
