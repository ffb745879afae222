import type { Message } from "../schemas.js";
import type { RawLine } from "./lines.js";

/** A line of a log: a message, something that is none, or nothing at all. */
export type LogEntry =
  | { readonly offset: number; readonly message: Message }
  | { readonly offset: number; readonly problem: LineProblem };

export type LineProblem = "torn" | "not_utf8" | "not_json" | "not_a_message";

const utf8 = new TextDecoder("utf-8", { fatal: true });
const ROLES = new Set(["user", "agent", "system"]);

/** Reads a line leniently: what has an id, a role and content is a message. Undefined for a blank line. */
export function parseLine(line: RawLine): LogEntry | undefined {
  const { offset } = line;
  const problem = (what: LineProblem): LogEntry => ({ offset, problem: line.ended ? what : "torn" });
  let text: string;
  try {
    text = utf8.decode(line.bytes);
  } catch {
    return problem("not_utf8");
  }
  if (text.trim() === "") return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return problem("not_json");
  }
  if (!isObject(value)) return problem("not_a_message");
  if (!isMessage(value)) return { offset, problem: "not_a_message" };
  return { offset, message: withKnownStatuses(value) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isMessage(value: Record<string, unknown>): value is Message {
  return typeof value.id === "string" && ROLES.has(value.role as string) && Array.isArray(value.content);
}

/** Some programs write `in_progress` for a call that runs. */
function withKnownStatuses(message: Message): Message {
  for (const call of Array.isArray(message.toolCalls) ? message.toolCalls : []) {
    if ((call?.status as string) === "in_progress") call.status = "running";
  }
  return message;
}
