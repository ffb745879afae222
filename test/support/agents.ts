import type { Run } from "../../src/protocol/index.js";
import type { ServerTurn } from "./model-server/script.js";
import type { ModelServer } from "./model-server/server.js";
import { agentAt, apis, says } from "./runs.js";

/** An agent whose model has its own name: the scripted server tells by it who is asking. */
export function agentNamed(url: string, agentId: string, more: object = {}) {
  return {
    ...agentAt(url, apis[0], { chat: { model: agentId }, displayName: agentId.toUpperCase() }),
    agentId,
    description: `The ${agentId} agent.`,
    ...more,
  };
}

type Play = readonly (string | ServerTurn)[];

/** Each agent plays its own turns, in whatever order they are asked. One that has none left says so. */
export function playByAgent(model: ModelServer, scripts: Readonly<Record<string, Play>>): void {
  const left = new Map(Object.entries(scripts).map(([id, turns]) => [id, [...turns]]));
  model.play((body) => {
    const { model: id } = JSON.parse(body) as { model: string };
    const turn = left.get(id)?.shift() ?? `${id} has nothing more to say.`;
    return typeof turn === "string" ? says(turn) : turn;
  });
}

/** The requests of one agent, in the order they came. */
export function requestsOf(
  model: ModelServer,
  agentId: string,
): { messages: WireMessage[]; tools?: WireTool[] }[] {
  return model.requests
    .map(({ body }) => JSON.parse(body) as { model: string; messages: WireMessage[]; tools?: WireTool[] })
    .filter((body) => body.model === agentId);
}

export interface WireMessage {
  readonly role: string;
  readonly content: unknown;
  readonly tool_call_id?: string;
}

interface WireTool {
  readonly function: { readonly name: string };
}

/** What a run's agent was told that a call answered. */
export function answerTo(model: ModelServer, agentId: string, call_id = "call_1"): unknown {
  for (const { messages } of requestsOf(model, agentId).toReversed()) {
    // An id that came before in the run was given a number.
    const isIt = (id = "") => id === call_id || id.startsWith(`${call_id}_`);
    const found = messages.findLast(({ tool_call_id }) => isIt(tool_call_id));
    if (found) return parsed(String(found.content));
  }
  return undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Those of a thread that wait. */
export function waitingFor(run: Run): readonly string[] {
  return (run.approvals ?? []).map(({ name }) => name);
}
