import type { Message as FileMessage } from "../atsf/index.js";
import type { Message } from "../protocol/index.js";

/** Past this many characters of JSON a message is cut for the wire; its file has it whole. */
const MAX_CHARS = 1024 * 1024;
const KEPT_CHARS = 64 * 1024;

/** A message as clients get it: what the file has, with the run that made it, and bounded. */
export function messageToWire(message: FileMessage): Message {
  const { runId } = (message.heddle ?? {}) as { runId?: unknown };
  const named = { ...sound(message), ...(typeof runId === "string" && { run_id: runId }) };
  return isLong(message) ? { ...(cut(named) as Message), truncated: true } : (named as Message);
}

/** Other programs may have written anything into a message; clients can count on its shape. */
function sound(message: FileMessage): FileMessage {
  const { content, toolCalls, timestamp, run_id, truncated } = message;
  const shown: Record<string, unknown> = {
    ...message,
    content: content.map((block) =>
      typeof block?.type === "string" ? block : { type: "unknown", value: block },
    ),
  };
  if (typeof timestamp !== "string") delete shown.timestamp;
  if (typeof run_id !== "string") delete shown.run_id;
  if (typeof truncated !== "boolean") delete shown.truncated;
  if (Array.isArray(toolCalls)) shown.toolCalls = toolCalls.filter(isObject);
  else delete shown.toolCalls;
  return shown as FileMessage;
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Adds up as it goes: a message of many megabytes is not turned into text to find out that it is long. */
function isLong(value: unknown): boolean {
  let left = MAX_CHARS;
  const walk = (inner: unknown): void => {
    if (left < 0) return;
    if (typeof inner === "string") left -= inner.length;
    else if (typeof inner === "object" && inner !== null) {
      for (const [key, each] of Object.entries(inner)) {
        left -= key.length + 8;
        walk(each);
      }
    } else left -= 8;
  };
  walk(value);
  return left < 0;
}

/** Keeps the shape and the beginnings of its texts, within the same bound. */
function cut(message: unknown): unknown {
  let left = MAX_CHARS;
  const room = () => Math.max(0, Math.min(LISTED, Math.floor(left / 8)));
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") {
      const kept = Math.max(0, Math.min(KEPT_CHARS, left));
      left -= Math.min(kept, value.length);
      return value.length > kept ? `${value.slice(0, kept)}…` : value;
    }
    left -= 8;
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return value.slice(0, room()).map(walk);
    return Object.fromEntries(
      Object.entries(value)
        .slice(0, room())
        .map(([key, each]) => [key, walk(each)]),
    );
  };
  return walk(message);
}

const LISTED = 1_000;
