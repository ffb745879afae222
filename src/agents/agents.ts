import type { Agent } from "../protocol/index.js";
import { whyUnavailable } from "./availability.js";
import { completeFrom } from "./complete.js";
import { quoted } from "./config-text.js";
import type { AgentDefinition } from "./definition.js";
import { demoAgent, detectAgents } from "./detect.js";
import { agentsError } from "./errors.js";
import { joinPeers } from "./lenders.js";
import type { HeddleConfig } from "./parse-config.js";
import type { Env } from "./substitute.js";

export interface AgentsGiven {
  readonly config?: HeddleConfig | undefined;
  readonly env: Env;
}

/** The agents there are. When the configuration names some, those are all; else one for each that is found, and `demo`. */
export class Agents {
  /** Who answers when nobody was chosen: the first that can. */
  readonly fallback: string;
  readonly #byId: ReadonlyMap<string, AgentDefinition>;
  /** Asked once: they can't change while their definitions don't. */
  readonly #reasons: ReadonlyMap<AgentDefinition, string | undefined>;

  constructor({ config, env }: AgentsGiven) {
    const named = config?.agents ?? [];
    const all =
      named.length > 0 ? named.map((agent) => completeFrom(env, agent)) : [...detectAgents(env), demoAgent()];
    joinPeers(all);
    this.#byId = new Map(all.map((agent) => [agent.agentId, agent]));
    this.#reasons = new Map(all.map((agent) => [agent, whyUnavailable(agent)]));
    const visible = all.filter(({ uiVisible }) => uiVisible);
    const first = visible.find((agent) => !this.#reasons.get(agent)) ?? visible[0] ?? all[0];
    this.fallback = (first as AgentDefinition).agentId;
  }

  list(includeHidden = false): Agent[] {
    return [...this.#byId.values()]
      .filter(({ uiVisible }) => includeHidden || uiVisible)
      .map((agent) => this.toWire(agent));
  }

  get(id: string): AgentDefinition | undefined {
    return this.#byId.get(id);
  }

  /** Throws `agent.not_found`. */
  require(id: string): AgentDefinition {
    const agent = this.#byId.get(id);
    if (agent) return agent;
    const known = this.list().map(({ agent_id }) => agent_id);
    throw agentsError(
      { kind: "agent.not_found", agent_id: id, known },
      `There is no agent ${quoted(id)}. Known are: ${known.join(", ")}.`,
    );
  }

  nameOf(id: string): string | undefined {
    return this.#byId.get(id)?.displayName;
  }

  toWire(agent: AgentDefinition): Agent {
    const { type, chat } = agent;
    const reason = this.#reasons.has(agent) ? this.#reasons.get(agent) : whyUnavailable(agent);
    return {
      agent_id: agent.agentId,
      display_name: agent.displayName,
      description: agent.description,
      type,
      ...(type === "chat" && { provider: chat.provider }),
      ...(type === "chat" && chat.model !== undefined && { model: chat.model }),
      available: reason === undefined,
      ...(reason !== undefined && { reason }),
      color: agent.color,
      origin: agent.origin,
      ...(agent.ownTools && { own_tools: true }),
      ...(!agent.uiVisible && { hidden: true }),
    };
  }
}
