import { CallFailure } from "./errors.js";

/** How far back a cut looks for the end of a line. */
const LINE_END_WITHIN = 1_000;

export interface Fitted {
  readonly content: string;
  readonly truncation: "none" | "hook";
  /** What had no room, where something had none. */
  readonly cut?: string;
}

/**
 * The content in its wrapper, with no more code points than the budget in all. What is too long is cut inside the wrapper,
 * at the end of a line where one is near, and a marker says how much is missing.
 */
export function fitted(
  content: string,
  budget: number,
  wrapper: { readonly open: string; readonly close: string } = { open: "", close: "" },
): Fitted {
  const wrap = (inner: string) => `${wrapper.open}${inner}${wrapper.close}`;
  // No text has more code points than units.
  if (wrapper.open.length + content.length + wrapper.close.length <= budget)
    return { content: wrap(content), truncation: "none" };
  const total = codePoints(content);
  const room = budget - codePoints(wrapper.open) - codePoints(wrapper.close);
  if (total <= room) return { content: wrap(content), truncation: "none" };
  const kept = room - codePoints(marker(total));
  if (kept < 0)
    throw new CallFailure("too_large", `the wrapper leaves no room in a budget of ${budget} characters`);
  const head = cutAt(content, kept);
  return {
    content: wrap(head + marker(total - codePoints(head))),
    truncation: "hook",
    cut: content.slice(head.length),
  };
}

export function codePoints(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at += widthAt(text, at)) count++;
  return count;
}

function marker(missing: number): string {
  return `\n[… ${missing} characters cut]`;
}

/** At most that many code points of its beginning. */
function cutAt(text: string, most: number): string {
  let end = 0;
  for (let count = 0; count < most; count++) end += widthAt(text, end);
  // The line end itself goes: the marker begins with one.
  const lineEnd = text.lastIndexOf("\n", end);
  const near = lineEnd > 0 && codePoints(text.slice(lineEnd, end)) <= LINE_END_WITHIN;
  return text.slice(0, near ? lineEnd : end);
}

function widthAt(text: string, at: number): 1 | 2 {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
