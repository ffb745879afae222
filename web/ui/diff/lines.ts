import { diffWordsWithSpace, structuredPatch } from "diff";

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
const MARKED_LINE = 400;
const TIME_MS = 100;

/** What differs between two texts, line by line, with a few lines around it. */
export function differenceOf(oldText: string, newText: string, context = 1): Difference {
  if (oldText.length + newText.length > MOST_CHARS) return coarse(oldText, newText);
  const options = { context, timeout: TIME_MS } as const;
  const patch = structuredPatch("", "", oldText, newText, undefined, undefined, options);
  if (!patch) return coarse(oldText, newText);
  const rows: DiffRow[] = [];
  for (const { oldStart, newStart, lines } of patch.hunks) {
    if (rows.length > 0) rows.push({ kind: "gap", number: 0, text: "" });
    rows.push(...withMarks(rowsOf(lines, oldStart, newStart)));
  }
  return counted(rows);
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

/** Rows that replace as many others are held against them word by word, where they have something in common. */
function withMarks(rows: readonly DiffRow[]): DiffRow[] {
  const marked = [...rows];
  for (let at = 0; at < rows.length; ) {
    const removed = run(rows, at, "d");
    const added = run(rows, at + removed, "a");
    if (removed > 0 && removed === added) {
      for (let n = 0; n < removed; n++) markPair(marked, at + n, at + removed + n);
    }
    at += Math.max(1, removed + added);
  }
  return marked;
}

function run(rows: readonly DiffRow[], from: number, kind: DiffRow["kind"]): number {
  let length = 0;
  while (rows[from + length]?.kind === kind) length++;
  return length;
}

function markPair(rows: DiffRow[], oldAt: number, newAt: number): void {
  const [before, after] = [rows[oldAt] as DiffRow, rows[newAt] as DiffRow];
  if (before.text.length > MARKED_LINE || after.text.length > MARKED_LINE) return;
  const parts = diffWordsWithSpace(before.text, after.text);
  const same = parts.reduce(
    (sum, { added, removed, value }) => (added || removed ? sum : sum + value.trim().length),
    0,
  );
  if (same * 2 < Math.min(before.text.trim().length, after.text.trim().length)) return;
  rows[oldAt] = { ...before, marks: marksOf(parts, "added") };
  rows[newAt] = { ...after, marks: marksOf(parts, "removed") };
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
