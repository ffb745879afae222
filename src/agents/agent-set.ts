import type { Agent } from "../protocol/index.js";
import { whyUnavailable } from "./availability.js";
import { completeFrom } from "./complete.js";
import { quoted } from "./config-text.js";
import type { AgentDefinition } from "./definition.js";
import { demoAgents, detectAgents } from "./detect.js";
import { agentsError } from "./errors.js";
import { joinPeers } from "./lenders.js";
import type { HeddleConfig } from "./parse-config.js";
import { type ProgramsHere, placeAgents, programFacts, programStart, whySignedOut } from "./programs.js";
import type { Env } from "./substitute.js";

export interface AgentsGiven {
  readonly config?: HeddleConfig | undefined;
  /** Of a project, where the user trusts it: its agents stand beside the others, and in the place of those with their ids. */
  readonly project?: HeddleConfig | undefined;
  readonly env: Env;
  /** What was found besides keys in the environment. */
  readonly found?: readonly AgentDefinition[];
  /** Without it nobody looks whether programs are there. */
  readonly programs?: ProgramsHere | undefined;
}

let made = 0;

/** The agents there are. When the configuration names some, those are all; else one for each that is found, and `demo`. */
export class AgentSet {
  /** Who answers when nobody was chosen: the first that can. */
  readonly fallback: string;
  readonly limits: HeddleConfig["limits"];
  /** Another for every set: what was decided with one set does not hold with the next. */
  readonly revision = ++made;
  readonly #byId: ReadonlyMap<string, AgentDefinition>;
  /** Asked once: they can't change while their definitions don't. Those of programs can, and are not in here. */
  readonly #reasons: ReadonlyMap<AgentDefinition, string | undefined>;

  constructor({ config, project, env, found = [], programs }: AgentsGiven) {
    const named = config?.agents ?? [];
    const own = (project?.agents ?? []).map((agent) => completeFrom(env, agent));
    const common =
      named.length > 0
        ? named.map((agent) => completeFrom(env, agent))
        : [...detectAgents(env), ...found, ...demoAgents()];
    const taken = new Set(own.map(({ agentId }) => agentId));
    // Copies: what a set lends its agents must not reach those of another.
    const all = [...own, ...common.filter(({ agentId }) => !taken.has(agentId))].map((one) => ({ ...one }));
    this.limits = strictest(config?.limits, project?.ownLimits);
    joinPeers(all);
    placeAgents(all, programs);
    this.#byId = new Map(all.map((agent) => [agent.agentId, agent]));
    this.#reasons = new Map(
      all.filter((agent) => !programStart(agent)).map((agent) => [agent, whyUnavailable(agent)]),
    );
    const visible = all.filter(({ uiVisible }) => uiVisible);
    const able = visible.filter((agent) => !this.#reasonOf(agent));
    // One that would only ask for a sign-in answers nobody who did not choose it.
    const first = able.find((agent) => !whySignedOut(agent)) ?? able[0] ?? visible[0] ?? all[0];
    this.fallback = (first as AgentDefinition).agentId;
  }

  /** What programs of this machine decide, as it is now: when it is another, the set should be made anew. */
  standing(): string {
    const programs = this.all.filter(programStart);
    return JSON.stringify(
      programs.map((agent) => [agent.agentId, this.#reasonOf(agent), whySignedOut(agent)]),
    );
  }

  list(includeHidden = false): Agent[] {
    return [...this.#byId.values()]
      .filter(({ uiVisible }) => includeHidden || uiVisible)
      .map((agent) => this.toWire(agent));
  }

  /** Every one, hidden ones too, in the order of the file. */
  get all(): readonly AgentDefinition[] {
    return [...this.#byId.values()];
  }

  get(id: string): AgentDefinition | undefined {
    return this.#byId.get(id);
  }

  /** Throws `agent.not_found`. */
  require(id: string): AgentDefinition {
    const agent = this.#byId.get(id);
    if (agent) return agent;
    const known = this.all.filter(({ uiVisible }) => uiVisible).map(({ agentId }) => agentId);
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
    const obstacle = this.#reasonOf(agent);
    const reason = obstacle ?? whySignedOut(agent);
    return {
      agent_id: agent.agentId,
      display_name: agent.displayName,
      description: agent.description,
      type,
      ...(type === "chat" && { provider: chat.provider }),
      ...(type === "chat" && chat.model !== undefined && { model: chat.model }),
      available: obstacle === undefined,
      ...(reason !== undefined && { reason }),
      color: agent.color,
      origin: agent.origin,
      ...programFacts(agent),
      ...(agent.ownTools && { own_tools: true }),
      ...(!agent.uiVisible && { hidden: true }),
    };
  }

  #reasonOf(agent: AgentDefinition): string | undefined {
    return this.#reasons.has(agent) ? this.#reasons.get(agent) : whyUnavailable(agent);
  }
}

const LIMITS = { maxDelegationDepth: 1, maxDelegationHops: 8 };

/** A project may ask for less than the user allows, never for more. What it does not name stays the user's. */
function strictest(
  user: HeddleConfig["limits"] = LIMITS,
  project: HeddleConfig["ownLimits"] = {},
): HeddleConfig["limits"] {
  return {
    maxDelegationDepth: Math.min(
      user.maxDelegationDepth,
      project.maxDelegationDepth ?? user.maxDelegationDepth,
    ),
    maxDelegationHops: Math.min(user.maxDelegationHops, project.maxDelegationHops ?? user.maxDelegationHops),
  };
}
