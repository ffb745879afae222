import { parsed } from "./call-facts.js";
import type { Call } from "./parts.js";

/** What `agents_message` was asked for, and what it answered. */
export interface Delegation {
  readonly agent: string;
  readonly content: string;
  readonly mode: "sync" | "async";
  readonly run?: string | undefined;
  readonly thread?: string | undefined;
  readonly title?: string | undefined;
  readonly answer?: string | undefined;
  readonly calls?: number | undefined;
  readonly ms?: number | undefined;
  /** How it ended, where that is not an answer. */
  readonly words?: string | undefined;
  /** Why there is no answer, or not all of it. */
  readonly reason?: string | undefined;
}

const ENDS: Readonly<Record<string, string>> = {
  failed: "Failed",
  cancelled: "Stopped",
  interrupted: "Interrupted",
  timeout: "Goes on in the background",
  started: "Started",
};

export function isDelegation({ name }: Pick<Call, "name">): boolean {
  return /(^|_)agents_message$/.test(name);
}

export function delegationOf({ input, output, status: ended }: Call): Delegation {
  const asked = record(parsed(input));
  const answer = record(parsed(output));
  const status = text(answer.status);
  return {
    agent: text(asked.agentId) ?? text(answer.agentId) ?? "",
    content: text(asked.content) ?? "",
    mode: asked.mode === "async" ? "async" : "sync",
    run: text(answer.responseId),
    thread: text(answer.sessionId),
    title: text(answer.sessionName),
    answer: text(answer.response),
    calls: number(answer.toolCallCount),
    ms: number(answer.durationMs),
    words: status === undefined ? undefined : ENDS[status],
    reason: ended === "failed" ? (text(answer.message) ?? text(answer.response ? "" : output)) : undefined,
  };
}

function record(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function number(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
