import { diffWordsWithSpace } from "diff";
import { diffIndices } from "node-diff3";

/** Part of a line; `marked`: these words changed. */
export interface Part {
  readonly text: string;
  readonly marked?: boolean;
}

export interface DiffRow {
  readonly kind: "same" | "added" | "gone" | "skipped";
  /** Its number in the text it stands in; of skipped ones, how many they are. */
  readonly number: number;
  readonly parts: readonly Part[];
}

export interface Difference {
  readonly rows: readonly DiffRow[];
  readonly added: number;
  readonly gone: number;
}

const CONTEXT = 2;
/** A line that changed beyond this much is not compared word by word. */
const LONG_LINE = 2_000;

/** Lines of two texts; what ends the last one is no line of its own, unless it is all that differs. */
function linesOf(before: string, after: string): [string[], string[]] {
  const lines = (text: string) => (text === "" ? [] : text.replace(/\n$/, "").split("\n"));
  const onlyTheEnd = before !== after && before.replace(/\n$/, "") === after.replace(/\n$/, "");
  return onlyTheEnd ? [before.split("\n"), after.split("\n")] : [lines(before), lines(after)];
}

export function countChanges(before: string, after: string): { added: number; gone: number } {
  let [added, gone] = [0, 0];
  for (const { buffer1, buffer2 } of diffIndices(...linesOf(before, after))) {
    gone += buffer1[1];
    added += buffer2[1];
  }
  return { added, gone };
}

/** What changed from one text to another. `whole`: with every line that did not. */
export function differenceOf(before: string, after: string, whole = false): Difference {
  const [old, now] = linesOf(before, after);
  const rows: DiffRow[] = [];
  const same = (from: number, to: number) => {
    for (let at = from; at < to; at++)
      rows.push({ kind: "same", number: at + 1, parts: [{ text: now[at] ?? "" }] });
  };
  let at = 0;
  for (const { buffer1, buffer2 } of diffIndices(old, now)) {
    const [oldAt, gone] = buffer1;
    const [newAt, added] = buffer2;
    same(at, newAt);
    rows.push(
      ...changedRows(old.slice(oldAt, oldAt + gone), now.slice(newAt, newAt + added), [oldAt, newAt]),
    );
    at = newAt + added;
  }
  same(at, now.length);
  return { rows: whole ? rows : folded(rows), ...countChanges(before, after) };
}

function changedRows(old: string[], now: string[], [oldAt, newAt]: [number, number]): DiffRow[] {
  const pairs = old.length === now.length ? old.map((line, at) => wordsOf(line, now[at] as string)) : [];
  const gone = old.map((text, at): DiffRow => {
    return { kind: "gone", number: oldAt + at + 1, parts: pairs[at]?.old ?? [{ text }] };
  });
  const added = now.map((text, at): DiffRow => {
    return { kind: "added", number: newAt + at + 1, parts: pairs[at]?.now ?? [{ text }] };
  });
  return [...gone, ...added];
}

function wordsOf(old: string, now: string): { old: Part[]; now: Part[] } | undefined {
  if (old.length + now.length > LONG_LINE) return undefined;
  const parts = diffWordsWithSpace(old, now);
  const side = (other: "added" | "removed") =>
    parts
      .filter((part) => !part[other])
      .map(({ value, added, removed }) => ({ text: value, ...((added || removed) && { marked: true }) }));
  return { old: side("added"), now: side("removed") };
}

/** Leaves out what is far from any change. */
function folded(rows: readonly DiffRow[]): DiffRow[] {
  const near = new Set<number>();
  rows.forEach(({ kind }, at) => {
    if (kind === "same") return;
    for (let other = at - CONTEXT; other <= at + CONTEXT; other++) near.add(other);
  });
  const out: DiffRow[] = [];
  rows.forEach((row, at) => {
    const last = out.at(-1);
    if (near.has(at)) out.push(row);
    else if (last?.kind === "skipped") out[out.length - 1] = { ...last, number: last.number + 1 };
    else out.push({ kind: "skipped", number: 1, parts: [] });
  });
  return out;
}
