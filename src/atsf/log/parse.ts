import type { Message } from "../schemas.js";
import type { RawLine } from "./lines.js";

/** A line of a log: a message, something that is none, or nothing at all. */
export type LogEntry =
  | { readonly offset: number; readonly message: Message }
  | { readonly offset: number; readonly problem: LineProblem };

export type LineProblem =
  | "torn"
  | "too_long"
  | "not_utf8"
  | "not_json"
  | "not_a_message"
  | "no_id"
  | "unknown_role";

const utf8 = new TextDecoder("utf-8", { fatal: true });
const ROLES = new Set(["user", "agent", "system"]);

/** Reads a line leniently: what has an id, a role and content is a message. Undefined for a blank line. */
export function parseLine(line: RawLine): LogEntry | undefined {
  const { offset } = line;
  if (line.tooLong) return { offset, problem: "too_long" };
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
  const lacking = problemOf(value);
  return lacking ? { offset, problem: lacking } : { offset, message: withKnownStatuses(value as Message) };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function problemOf({ id, role, content }: Record<string, unknown>): LineProblem | undefined {
  if (typeof role !== "string" || !Array.isArray(content)) return "not_a_message";
  if (typeof id !== "string") return "no_id";
  return ROLES.has(role) ? undefined : "unknown_role";
}

/** Some programs write `in_progress` for a call that runs. */
function withKnownStatuses(message: Message): Message {
  for (const call of Array.isArray(message.toolCalls) ? message.toolCalls : []) {
    if ((call?.status as string) === "in_progress") call.status = "running";
  }
  return message;
}
