import { useMemo } from "react";
import { type DiffRow, plainRows, rowsOfPatch } from "../../ui/diff/lines.js";
import { Row } from "../../ui/diff/rows.js";
import "../../ui/diff/diff.css";

/** A diff that can't be read is shown as it is. */
function read(patch: string): readonly DiffRow[] {
  try {
    return rowsOfPatch(patch);
  } catch {
    return plainRows(patch);
  }
}

export function PatchView({ patch }: { readonly patch: string }) {
  const rows = useMemo(() => read(patch), [patch]);
  return (
    <section className="diff wraps patch" tabIndex={0} aria-label="First difference">
      <div className="diff-rows">
        {rows.map((row, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: lines of a text have nothing else
          <Row key={at} row={row} />
        ))}
      </div>
    </section>
  );
}
