import { Turns } from "../../base/index.js";
import { failed } from "../outcome.js";
import type { ToolContext, ToolOutcome } from "../tool.js";
import { findPlace, type Place } from "./place.js";

type Diff = NonNullable<ToolOutcome["diff"]>;

/**
 * Changes within one directory take turns, in the order they were asked for: each sees what the one before has written, by
 * whatever name it wrote it.
 */
export function changeFile(
  path: string,
  { signal, ...area }: ToolContext,
  work: (place: Place) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  return turns.run(area.directory ?? "", async () => {
    signal.throwIfAborted();
    const place = await findPlace(area, path);
    return "refusal" in place ? failed(place.refusal) : work(place);
  });
}

const turns = new Turns();

/** Bytes of both texts of a diff that is recorded. */
const MOST_DIFF_BYTES = 64 * 1024;

/** What is recorded of a change, and what is said where that is less than the whole. */
export function diffOf(
  path: string,
  oldText: string | undefined,
  newText: string,
): { readonly diff?: Diff; readonly note: string } {
  if (oldText === undefined) return { note: ` ${LEFT_OUT}` };
  if (fits(oldText, newText)) return { diff: { path, oldText, newText }, note: "" };
  const [before, after] = aroundChange(oldText, newText);
  if (!fits(before, after)) return { note: ` ${LEFT_OUT}` };
  return { diff: { path, oldText: before, newText: after }, note: ` ${ONLY_AROUND}` };
}

/** The text of a file, if it is one; a byte order mark is part of it. */
export function textOf(bytes: Buffer | undefined): string | undefined {
  if (bytes === undefined || bytes.includes(0)) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

export function countLines(text: string): string {
  const ends = text.split("\n").length - 1;
  const lines = text === "" || text.endsWith("\n") ? ends : ends + 1;
  return `${lines} ${lines === 1 ? "line" : "lines"}`;
}

const LEFT_OUT =
  "(No diff is recorded: the change is too large for one, or what stood there was no text in UTF-8.)";
const ONLY_AROUND = "(The recorded diff holds only the lines from the first change to the last.)";

function fits(before: string, after: string): boolean {
  return Buffer.byteLength(before) + Buffer.byteLength(after) <= MOST_DIFF_BYTES;
}

/** Whole lines, without those at the beginning and the end that are the same. */
function aroundChange(oldText: string, newText: string): [string, string] {
  const least = Math.min(oldText.length, newText.length);
  let start = 0;
  while (start < least && oldText[start] === newText[start]) start++;
  start = start === 0 ? 0 : oldText.lastIndexOf("\n", start - 1) + 1;
  let same = 0;
  while (same < least - start && oldText.at(-1 - same) === newText.at(-1 - same)) same++;
  const lineBegins = (text: string) => text.length - same === start || text[text.length - same - 1] === "\n";
  if (!lineBegins(oldText) || !lineBegins(newText)) {
    const lineEnd = oldText.indexOf("\n", oldText.length - same);
    same = lineEnd < 0 ? 0 : oldText.length - lineEnd - 1;
  }
  return [oldText.slice(start, oldText.length - same), newText.slice(start, newText.length - same)];
}
