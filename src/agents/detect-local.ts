import { OWN_MODEL } from "../providers/index.js";
import { type AgentDefinition, defineAgent } from "./definition.js";
import { programs } from "./provider-facts.js";

/** A server on this machine that speaks the OpenAI API, and the first model it lists. */
export interface FoundServer {
  readonly agentId: string;
  readonly displayName: string;
  /** With its version: `http://127.0.0.1:11434/v1`. */
  readonly baseURL: string;
  readonly model: string;
}

/** A program on the PATH that is an agent itself. */
export interface FoundProgram {
  readonly program: string;
  readonly path: string;
}

/** The programs that are looked for. */
export const programNames: readonly string[] = Object.keys(programs);

/** An agent for each server and each program that was found, servers first: they are there to answer, and answer soonest. */
export function localAgents(found: {
  readonly servers: readonly FoundServer[];
  readonly programs: readonly FoundProgram[];
}): AgentDefinition[] {
  return [...found.servers.map(serverAgent), ...found.programs.flatMap(programAgent)];
}

function serverAgent({ agentId, displayName, baseURL, model }: FoundServer): AgentDefinition {
  const entry = {
    agentId,
    displayName,
    description: `A general assistant with ${model}, which ${displayName} runs at ${new URL(baseURL).origin}.`,
    systemPrompt: "You are a helpful general assistant.",
    chat: { provider: "openai-compatible", model, config: { baseURL } },
  };
  return defineAgent(entry, "detected");
}

function programAgent({ program, path }: FoundProgram): AgentDefinition[] {
  const facts = programs[program];
  if (!facts) return [];
  const entry = {
    agentId: program,
    displayName: facts.displayName,
    description: `The coding agent ${facts.displayName}, with tools of its own (${path}).`,
    systemPrompt: "You are a capable coding agent.",
    chat: { provider: facts.provider, model: OWN_MODEL, config: { command: path, args: [...facts.args] } },
  };
  return [defineAgent(entry, "detected")];
}
