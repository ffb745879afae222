import type { Message } from "../atsf/index.js";

export const DEFAULT_TITLE = "New thread";
const TITLE_CHARS = 60;
const SNIPPET_CHARS = 200;
/** More than anyone writes; what a tool printed beyond that is not searched. */
const SEARCHED_CHARS = 1_000_000;

/** The beginning of a text: at most so many code points, however long the rest is. */
export function beginningOf(text: string, codePoints: number): string {
  if (text.length <= codePoints) return text;
  return [...text.slice(0, 2 * codePoints)].slice(0, codePoints).join("");
}

/** What both stores can keep: PostgreSQL takes no NUL and no half characters. */
export function storable(text: string): string {
  return text.replaceAll("\0", "\uFFFD").toWellFormed();
}

/** The words of a message, without what it thought or did. */
export function textOf(message: Pick<Message, "content">): string {
  return message.content
    .filter((block): block is { type: "text"; text: string } => block?.type === "text" && isText(block))
    .map(({ text }) => text)
    .join("\n");
}

/** What a search looks at: what was said, what was thought, what tools were asked and answered. */
export function searchTextOf(message: Message): string {
  return searchedParts(message).join("\n").slice(0, SEARCHED_CHARS);
}

/** The same as somebody reads it: what tools are asked and answer is often JSON. */
export function readableTextOf(message: Message): string {
  return searchedParts(message).map(readable).join("\n").slice(0, SEARCHED_CHARS);
}

function searchedParts(message: Message): string[] {
  const said = message.content.filter(isText).map(({ text }) => text as string);
  const calls = Array.isArray(message.toolCalls) ? message.toolCalls : [];
  const done = calls.flatMap((call) => [call?.title, call?.input, call?.output]);
  return [...said, ...done.filter((text): text is string => typeof text === "string")];
}

/** More than a person would read; what is longer is not worth the time it takes. */
const READABLE_CHARS = 100_000;

function readable(text: string): string {
  if (text.length > READABLE_CHARS || !/^\s*[{[]/.test(text)) return text;
  try {
    return flat(JSON.parse(text));
  } catch {
    // It only looks like JSON, or is nested too deep.
    return text;
  }
}

/** `path: src/app.ts, lines: 1, 20` */
function flat(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  if (Array.isArray(value)) return value.map(flat).join(", ");
  return Object.entries(value)
    .map(([name, each]) => `${name}: ${flat(each)}`)
    .join(", ");
}

/** The first line of a user's message, without the line in which a client says what it shows. */
export function titleFrom(message: Pick<Message, "role" | "content">): string | undefined {
  if (message.role !== "user") return undefined;
  for (const line of linesOf(textOf(message))) {
    const plain = line.replaceAll(/\p{Cc}+/gu, " ").trim();
    if (plain !== "" && !/^<context\s[^\n]*\/>$/.test(plain))
      return storable(beginningOf(plain, TITLE_CHARS));
  }
  return undefined;
}

/** One after the other: who needs the first need not take a megabyte apart. */
function* linesOf(text: string): Generator<string> {
  let from = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
    yield text.slice(from, end);
    from = end + 1;
  }
  yield text.slice(from);
}

/** The beginning of a message on one line, for lists. */
export function snippetOf(message: Pick<Message, "role" | "content">): string | undefined {
  if (message.role === "system") return undefined;
  const text = textOf(message)
    .slice(0, SNIPPET_CHARS * 8)
    .replace(/^<context\s[^\n]*\/>\s*/, "")
    .replaceAll(/\s+/g, " ")
    .trim();
  return text === "" ? undefined : storable(beginningOf(text, SNIPPET_CHARS));
}

function isText(block: unknown): block is { text: string } {
  return typeof (block as { text?: unknown } | null)?.text === "string";
}
