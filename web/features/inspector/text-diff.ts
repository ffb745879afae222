import { diffArrays, diffWordsWithSpace } from "diff";

interface Piece {
  readonly text: string;
  readonly marked: boolean;
}

/** A line of a text held against another: `was` and `is` are its numbers in each. */
export interface DiffLine {
  readonly kind: "same" | "removed" | "added";
  readonly was?: number;
  readonly is?: number;
  readonly pieces: readonly Piece[];
}

/** Past this many lines words are not compared: nobody reads them one by one, and it takes the square of their number. */
const MOST_FOR_WORDS = 400;

/** Lines of a text against those of another, with the words that differ where a line was changed. */
export function diffTexts(before: string, now: string): DiffLine[] {
  const parts = diffArrays(before.split("\n"), now.split("\n"), { timeout: 1_000 });
  if (!parts) return replaced(before, now);
  const at = { was: 1, is: 1 };
  const lines: DiffLine[] = [];
  let removed: readonly string[] = [];
  for (const part of parts) {
    if (part.removed) {
      removed = part.value;
      continue;
    }
    lines.push(...(part.added ? changed(removed, part.value, at) : gone(removed, at)));
    removed = [];
    if (!part.added) lines.push(...part.value.map((text) => same(text, at)));
  }
  return [...lines, ...gone(removed, at)];
}

interface At {
  was: number;
  is: number;
}

function same(text: string, at: At): DiffLine {
  return { kind: "same", was: at.was++, is: at.is++, pieces: [plain(text)] };
}

function gone(lines: readonly string[], at: At): DiffLine[] {
  return lines.map((text) => ({ kind: "removed", was: at.was++, pieces: [plain(text)] }));
}

const plain = (text: string): Piece => ({ text, marked: false });

function changed(before: readonly string[], now: readonly string[], at: At): DiffLine[] {
  const fewer = Math.min(before.length, now.length);
  const pairs = fewer > MOST_FOR_WORDS ? 0 : fewer;
  const marked = Array.from({ length: pairs }, (_, line) => words(before[line] ?? "", now[line] ?? ""));
  const were = gone(before, at).map((each, line) => ({
    ...each,
    pieces: marked[line]?.before ?? each.pieces,
  }));
  const are = now.map(
    (text, line): DiffLine => ({ kind: "added", is: at.is++, pieces: marked[line]?.now ?? [plain(text)] }),
  );
  return [...were, ...are];
}

/** Two lines that have hardly a word in common are two lines, not one that was changed. */
function words(before: string, now: string) {
  const parts = diffWordsWithSpace(before, now);
  const common = parts.filter(({ added, removed }) => !added && !removed);
  const shared = common.reduce((sum, { value }) => sum + value.trim().length, 0);
  if (shared * 4 < Math.min(before.length, now.length)) return { before: [plain(before)], now: [plain(now)] };
  const pick = (skip: "added" | "removed") =>
    parts
      .filter((part) => !part[skip])
      .map(({ value, added, removed }) => ({ text: value, marked: added || removed }));
  return { before: joined(pick("added")), now: joined(pick("removed")) };
}

/** A blank between two marked words is marked with them. */
function joined(pieces: readonly Piece[]): Piece[] {
  const all: Piece[] = [];
  for (const [at, piece] of pieces.entries()) {
    const between = /^\s*$/.test(piece.text) && pieces[at - 1]?.marked && pieces[at + 1]?.marked;
    const marked = piece.marked || between === true;
    const last = all.at(-1);
    if (last && last.marked === marked) all[all.length - 1] = { text: last.text + piece.text, marked };
    else all.push({ text: piece.text, marked });
  }
  return all;
}

function replaced(before: string, now: string): DiffLine[] {
  const at = { was: 1, is: 1 };
  const added = now
    .split("\n")
    .map((text): DiffLine => ({ kind: "added", is: at.is++, pieces: [plain(text)] }));
  return [...gone(before.split("\n"), at), ...added];
}

/** Lines to show, and stretches that are the same and long enough to fold. */
export type Stretch = { readonly lines: readonly DiffLine[]; readonly folded: boolean };

const AROUND = 2;
const WORTH_FOLDING = 4;

export function folded(lines: readonly DiffLine[]): Stretch[] {
  const near = (at: number) =>
    lines.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ kind }) => kind !== "same");
  const stretches: { lines: DiffLine[]; folded: boolean }[] = [];
  for (const [at, each] of lines.entries()) {
    const hides = !near(at);
    const last = stretches.at(-1);
    if (last?.folded === hides) last.lines.push(each);
    else stretches.push({ lines: [each], folded: hides });
  }
  return stretches.map(({ lines: all, folded: hides }) => ({
    lines: all,
    folded: hides && all.length >= WORTH_FOLDING,
  }));
}
