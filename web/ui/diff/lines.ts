import { diffWordsWithSpace, parsePatch, type StructuredPatchHunk, structuredPatch } from "diff";

/** A row of a difference. `a`: added, `d`: removed; the number is that of its own side. */
export interface DiffRow {
  readonly kind: "a" | "d" | "same" | "gap";
  readonly number: number;
  readonly text: string;
  /** Where words differ from the row it replaces, as [from, to). */
  readonly marks?: readonly (readonly [number, number])[];
}

export interface Difference {
  readonly rows: readonly DiffRow[];
  readonly added: number;
  readonly removed: number;
}

const MOST_CHARS = 400_000;
const MARKED_LINE = 2_000;
/** Past this many lines words are not compared: nobody reads them one by one. */
const MARKED_LINES = 200;
const TIME_MS = 100;

/** What differs between two texts, line by line, with a few lines around it. */
export function differenceOf(oldText: string, newText: string, { context, alike } = CODE): Difference {
  if (oldText.length + newText.length > MOST_CHARS) return coarse(oldText, newText);
  const options = { context, timeout: TIME_MS } as const;
  const patch = structuredPatch("", "", oldText, newText, undefined, undefined, options);
  return patch ? counted(rowsOfHunks(patch.hunks, alike)) : coarse(oldText, newText);
}

/** Lines around a change, and how much two lines have in common, one part in so many, to be one that was changed. */
const CODE = { context: 1, alike: 2 };
const PROSE = { context: Number.POSITIVE_INFINITY, alike: 4 };

/** All of a text with what is other in it than in another one. Its last line needs no end to be the same. */
export function wholeDifference(oldText: string, newText: string): readonly DiffRow[] {
  return oldText === newText ? plainRows(newText) : differenceOf(`${oldText}\n`, `${newText}\n`, PROSE).rows;
}

/** A text that is held against nothing. */
export function plainRows(text: string): readonly DiffRow[] {
  return text.split("\n").map((line, at) => ({ kind: "same", number: at + 1, text: line }));
}

/** The first file of a unified diff. */
export function rowsOfPatch(patch: string): readonly DiffRow[] {
  return rowsOfHunks(parsePatch(patch)[0]?.hunks ?? [], CODE.alike);
}

function rowsOfHunks(hunks: readonly StructuredPatchHunk[], alike: number): DiffRow[] {
  const rows: DiffRow[] = [];
  for (const { oldStart, newStart, lines } of hunks) {
    if (rows.length > 0) rows.push({ kind: "gap", number: 0, text: "" });
    rows.push(...withMarks(rowsOf(lines, oldStart, newStart), alike));
  }
  return rows;
}

function rowsOf(lines: readonly string[], oldStart: number, newStart: number): DiffRow[] {
  let [before, after] = [oldStart, newStart];
  return lines.flatMap((line): DiffRow[] => {
    const text = line.slice(1);
    if (line.startsWith("+")) return [{ kind: "a", number: after++, text }];
    if (line.startsWith("-")) return [{ kind: "d", number: before++, text }];
    // `\ No newline at end of file`
    if (line.startsWith("\\")) return [];
    before++;
    return [{ kind: "same", number: after++, text }];
  });
}

/** Rows that replace others are held against them word by word, one by one, where they have something in common. */
function withMarks(rows: readonly DiffRow[], alike: number): DiffRow[] {
  const marked = [...rows];
  for (let at = 0; at < rows.length; ) {
    const removed = run(rows, at, "d");
    const added = run(rows, at + removed, "a");
    const pairs = Math.min(removed, added);
    for (let n = 0; n < pairs && pairs <= MARKED_LINES; n++)
      markPair(marked, [at + n, at + removed + n], alike);
    at += Math.max(1, removed + added);
  }
  return marked;
}

function run(rows: readonly DiffRow[], from: number, kind: DiffRow["kind"]): number {
  let length = 0;
  while (rows[from + length]?.kind === kind) length++;
  return length;
}

function markPair(rows: DiffRow[], [oldAt, newAt]: readonly [number, number], alike: number): void {
  const [before, after] = [rows[oldAt] as DiffRow, rows[newAt] as DiffRow];
  if (before.text.length > MARKED_LINE || after.text.length > MARKED_LINE) return;
  const parts = diffWordsWithSpace(before.text, after.text);
  const same = parts.reduce(
    (sum, { added, removed, value }) => (added || removed ? sum : sum + value.trim().length),
    0,
  );
  if (same * alike < Math.min(before.text.trim().length, after.text.trim().length)) return;
  rows[oldAt] = { ...before, marks: joined(marksOf(parts, "added"), before.text) };
  rows[newAt] = { ...after, marks: joined(marksOf(parts, "removed"), after.text) };
}

function marksOf(
  parts: ReturnType<typeof diffWordsWithSpace>,
  other: "added" | "removed",
): [number, number][] {
  const marks: [number, number][] = [];
  let at = 0;
  for (const part of parts) {
    if (part[other]) continue;
    if (part.added || part.removed) marks.push([at, at + part.value.length]);
    at += part.value.length;
  }
  return marks;
}

/** A blank between two marked words is marked with them. */
function joined(marks: readonly [number, number][], text: string): [number, number][] {
  const all: [number, number][] = [];
  for (const [from, to] of marks) {
    const last = all.at(-1);
    if (last && text.slice(last[1], from).trim() === "") last[1] = to;
    else all.push([from, to]);
  }
  return all;
}

/** Too long to be compared: all of one side, then all of the other. */
function coarse(oldText: string, newText: string): Difference {
  const side = (kind: "a" | "d", text: string): DiffRow[] =>
    text === "" ? [] : text.split("\n").map((line, at) => ({ kind, number: at + 1, text: line }));
  return counted([...side("d", oldText), ...side("a", newText)]);
}

function counted(rows: readonly DiffRow[]): Difference {
  const number = (kind: DiffRow["kind"]) => rows.filter((row) => row.kind === kind).length;
  return { rows, added: number("a"), removed: number("d") };
}
