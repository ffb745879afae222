import type { ExternalAnswer } from "../../runs/index.js";

type Read = ExternalAnswer | { readonly problem: string };

const NO_JSON = "The body is not valid JSON.";
const NO_TEXT = 'The answer is empty: send {"text": "…"}, {"message": {"text": "…"}} or plain text.';

/** An answer as agents send it: JSON where they say so, or where it is JSON; otherwise the text itself. */
export function readAnswer(body: string, type: string): Read {
  if (/^text\/plain\b/i.test(type)) return answerOf({ text: body });
  const parsed = objectIn(body);
  if (parsed) return answerOf(parsed);
  return /\bjson\b/i.test(type) ? { problem: NO_JSON } : answerOf({ text: body });
}

function objectIn(body: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.startsWith("\uFEFF") ? body.slice(1) : body);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function answerOf({ text, message, error, inReplyTo }: Record<string, unknown>): Read {
  const within = (message as { text?: unknown } | null | undefined)?.text;
  const said = [text, within].find((each) => typeof each === "string") as string | undefined;
  const problem = typeof error === "string" ? error : undefined;
  const words = sound(said ?? problem ?? "");
  if (words.trim() === "") return { problem: NO_TEXT };
  return {
    text: words,
    failed: said === undefined,
    ...(typeof inReplyTo === "string" && { inReplyTo }),
  };
}

/** An answer may hold what a message may not. */
function sound(text: string): string {
  return text.replaceAll("\0", "\uFFFD").toWellFormed();
}
