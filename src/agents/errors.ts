import { failures } from "../base/index.js";

export type AgentsFailure =
  | { kind: "config.invalid"; file: string; line: number; key?: string; problem: string }
  | { kind: "config.missing_variable"; file: string; line: number; key: string; variable: string }
  | { kind: "agent.not_found"; agent_id: string; known: readonly string[] }
  | { kind: "agent.unavailable"; agent_id: string; reason: string }
  | { kind: "agent.invalid_param"; agent_id: string; param: string; problem: string };

export const agentsError = failures<AgentsFailure>();

/** A reason is a sentence. It holds no values of a configuration: they may be secrets. */
export function unavailable(agent_id: string, reason: string) {
  return agentsError(
    { kind: "agent.unavailable", agent_id, reason },
    `The agent ${agent_id} can't be used: ${reason}`,
  );
}
