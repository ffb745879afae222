import type { DiffRow } from "./lines.js";

/** Rows to show, or a stretch that is the same on both sides and long enough to fold. */
export interface Stretch {
  readonly rows: readonly DiffRow[];
  readonly folded: boolean;
}

const AROUND = 2;
const WORTH_FOLDING = 4;

export function foldedRows(rows: readonly DiffRow[]): Stretch[] {
  const near = (at: number) =>
    rows.slice(Math.max(0, at - AROUND), at + AROUND + 1).some(({ kind }) => kind !== "same");
  const stretches: { rows: DiffRow[]; folded: boolean }[] = [];
  for (const [at, row] of rows.entries()) {
    const folded = !near(at);
    const last = stretches.at(-1);
    if (last?.folded === folded) last.rows.push(row);
    else stretches.push({ rows: [row], folded });
  }
  return stretches.map(({ rows: all, folded }) => ({
    rows: all,
    folded: folded && all.length >= WORTH_FOLDING,
  }));
}
