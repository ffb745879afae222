import { type ReactNode, useMemo, useState } from "react";
import { foldedRows, type Stretch } from "../../ui/diff/fold.js";
import { type DiffRow, plainRows, wholeDifference } from "../../ui/diff/lines.js";
import { Row } from "../../ui/diff/rows.js";
import { counted } from "../../ui/format.js";
import { isCutMark } from "./cut.js";
import "../../ui/diff/diff.css";

interface DiffViewProps {
  readonly now: string;
  /** What it is held against; undefined: nothing is. */
  readonly before?: string | undefined;
  /** Stands where something was cut. */
  readonly cut?: ReactNode;
}

/** A text with its line numbers, and what is other in it than in another one. */
export function DiffView({ now, before, cut }: DiffViewProps) {
  const rows = useMemo(
    () => (before === undefined ? plainRows(now) : wholeDifference(before, now)),
    [now, before],
  );
  const folds = before !== undefined && before !== now;
  const at = cut ? rows.findLastIndex(({ kind, text }) => kind !== "d" && isCutMark(text)) : -1;
  const end = at < 0 ? rows.length : at + 1;
  return (
    <div className="diff wraps">
      <Rows rows={rows.slice(0, end)} folds={folds} />
      {cut}
      {end < rows.length && <Rows rows={rows.slice(end)} folds={folds} />}
    </div>
  );
}

function Rows({ rows, folds }: { readonly rows: readonly DiffRow[]; readonly folds: boolean }) {
  const stretches = folds ? foldedRows(rows) : [{ rows, folded: false }];
  return (
    <div className="diff-rows">
      {stretches.map((stretch, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: stretches of a text have nothing else
        <StretchView key={at} stretch={stretch} />
      ))}
    </div>
  );
}

function StretchView({ stretch: { rows, folded } }: { readonly stretch: Stretch }) {
  const [open, setOpen] = useState(false);
  if (folded && !open)
    return (
      <div>
        <i />
        <s />
        <button type="button" className="diff-fold" onClick={() => setOpen(true)}>
          {counted(rows.length, "line")} unchanged
        </button>
      </div>
    );
  return rows.map((row) => <Row key={`${row.kind} ${row.number}`} row={row} />);
}
