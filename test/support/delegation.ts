import { expect } from "vitest";
import type { Run } from "../../src/protocol/index.js";
import { agentNamed } from "./agents.js";
import type { ServerStep, ServerTurn } from "./model-server/script.js";
import { reached } from "./mortal-gateway.js";
import type { RunScene } from "./runs.js";

/** Agents that may ask each other, and nothing else to use. */
export function delegationConfig(ids: readonly string[], more: { limits?: object; agents?: object } = {}) {
  const own = (more.agents ?? {}) as Record<string, object>;
  return (url: string) => ({
    agents: ids.map((id) => agentNamed(url, id, own[id] ?? {})),
    plugins: { artifacts: { enabled: false }, bash: { enabled: false }, files: { enabled: false } },
    ...(more.limits && { limits: more.limits }),
  });
}

interface Asked {
  readonly agentId: string;
  readonly content: string;
  readonly session?: string;
  readonly mode?: "sync" | "async";
  readonly timeout?: number;
}

export const asks = (args: Asked, id = "call_1"): ServerStep => ({
  tool_call: { id, name: "agents_message", arguments: JSON.stringify(args) },
});

/** A turn that asks other agents; several calls are `call_1`, `call_2` … */
export const delegates = (...all: readonly Asked[]): ServerTurn => ({
  steps: all.map((args, at) => asks(args, `call_${at + 1}`)),
});

/** A turn that says something when the test lets it. */
export const saysAfter = (gate: string, text: string): ServerTurn => ({ steps: [{ gate }, { text }] });

/** The runs of an agent, the oldest first. */
export async function runsOf(scene: RunScene, agent_id: string): Promise<Run[]> {
  return (await scene.runs()).filter((run) => run.agent_id === agent_id).toReversed();
}

/** The run of an agent that was asked by another, once it is there and in this state. */
export function childOf(scene: RunScene, agent_id: string, status?: Run["status"]): Promise<Run> {
  return reached(async () => {
    const found = (await runsOf(scene, agent_id)).findLast(({ origin }) => origin?.kind === "delegated");
    expect(found?.status).toBe(status ?? found?.status ?? "there");
    return found as Run;
  });
}

/** So many results that came back to a thread as runs of their own, once all of them have ended. */
export function returnedTo(scene: RunScene, thread_id: string, count = 1): Promise<Run[]> {
  return reached(async () => {
    const found = (await scene.runs(thread_id)).filter(({ origin }) => origin?.kind === "returned");
    expect(found.filter(({ ended_at }) => ended_at !== undefined)).toHaveLength(count);
    return found.toReversed();
  });
}

/** Nothing is under way any more, and nothing is about to be. */
export function atRest(scene: RunScene): Promise<Run[]> {
  return reached(async () => {
    const runs = await scene.runs();
    expect(runs.filter(({ ended_at }) => ended_at === undefined).map(({ agent_id }) => agent_id)).toEqual([]);
    return runs;
  });
}

/** The texts that a thread was sent, by people and by agents. */
export async function askedIn(scene: RunScene, thread_id: string): Promise<string[]> {
  const messages = await scene.messages(thread_id);
  return messages
    .filter(({ role }) => role === "user")
    .map(({ content }) => content.map(({ text }) => String(text ?? "")).join(""));
}
