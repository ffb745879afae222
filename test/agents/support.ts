import { type AgentDefinition, AgentSet, parseConfig } from "../../src/agents/index.js";
import { HeddleError } from "../../src/base/index.js";

type Env = Record<string, string | undefined>;

/** A configuration of a text, or of a value. */
export function load(given: unknown, env: Env = {}, directory = "/etc/heddle") {
  const text = typeof given === "string" ? given : JSON.stringify(given, null, 2);
  return parseConfig(text, { file: "heddle.config.json", env, directory });
}

export function agentsOf(agents: readonly object[], env: Env = {}): AgentSet {
  return new AgentSet({ config: load({ agents }, env).config, env });
}

/** The first agent of a configuration with this entry. */
export function define(entry: object, env: Env = {}): AgentDefinition {
  return load({ agents: [{ agentId: "a", ...entry }] }, env).config.agents[0] as AgentDefinition;
}

/** What an attempt was refused with. */
export function refusal(attempt: () => unknown): HeddleError {
  try {
    attempt();
  } catch (error) {
    if (error instanceof HeddleError) return error;
    throw error;
  }
  throw new Error("it was not refused");
}
