import { counted } from "../../ui/format.js";
import type { Difference, DiffRow } from "./diff-rows.js";
import { hangStyle } from "./hang.js";

const SIGNS = { same: "", added: "+", gone: "−", skipped: "" };
const CLASSES = { same: "", added: "a", gone: "d", skipped: "skip" };

/** Lines with number and sign; the words that changed are marked. */
export function DiffView({ difference }: { readonly difference: Difference }) {
  const { rows, added, gone } = difference;
  if (added + gone === 0) return <p className="small ink-3 cmp-none">No difference.</p>;
  return (
    <section className="well doc-diff thin-scroll" aria-label="Difference" tabIndex={0}>
      <div className="diff">
        {rows.map((row, at) => (
          <Row
            // biome-ignore lint/suspicious/noArrayIndexKey: rows have nothing else to be told by
            key={at}
            row={row}
            first={row.kind !== "same" && rows[at - 1]?.kind !== row.kind && !isChange(rows[at - 1])}
          />
        ))}
      </div>
    </section>
  );
}

function isChange(row: DiffRow | undefined): boolean {
  return row?.kind === "added" || row?.kind === "gone";
}

function Row({ row, first }: { readonly row: DiffRow; readonly first: boolean }) {
  if (row.kind === "skipped")
    return (
      <div className="skip">
        <span>{counted(row.number, "line")} the same</span>
      </div>
    );
  return (
    <div className={CLASSES[row.kind]} data-difference={first ? "" : undefined}>
      <i>{row.number}</i>
      <s>{SIGNS[row.kind]}</s>
      <span className="hang" style={hangStyle(row.parts.map(({ text }) => text).join(""))}>
        {row.kind !== "same" && <span className="sr">{row.kind === "added" ? "added: " : "gone: "}</span>}
        {row.parts.map(({ text, marked }, at) =>
          marked ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts have nothing else to be told by
            <mark key={at}>{text}</mark>
          ) : (
            text
          ),
        )}
      </span>
    </div>
  );
}
