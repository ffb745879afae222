import { useState } from "react";
import type { ThreadRoute } from "../../state/router.js";
import { count } from "../../ui/format.js";
import { Cut } from "./cut.js";
import { useRoving } from "./roving.js";
import { SectionDetail } from "./section-detail.js";
import { Source } from "./source.js";
import { type Row, rowsOf, shareOf, type Told } from "./told.js";

interface SectionListProps {
  readonly route: ThreadRoute;
  readonly told: Told;
}

/** What was sent, in its order. A row opens for its text. */
export function SectionList({ route, told }: SectionListProps) {
  const [open, setOpen] = useState<string>();
  const rows = rowsOf(told.manifest);
  const roving = useRoving(rows.map(({ id }) => id));
  const total = told.manifest.window.tokens_estimate;
  return (
    <ol className="secs" aria-label="Sections, in the order sent" onKeyDown={roving.onKeyDown}>
      {rows.map((row) => (
        <SectionRow
          key={row.id}
          {...{ route, told, row, total }}
          isOpen={open === row.id}
          tabIndex={roving.tabIndexOf(row.id)}
          onFocus={() => roving.onFocus(row.id)}
          toggle={() => setOpen(open === row.id ? undefined : row.id)}
        />
      ))}
    </ol>
  );
}

interface SectionRowProps extends SectionListProps {
  readonly row: Row;
  readonly total: number;
  readonly isOpen: boolean;
  readonly tabIndex: 0 | -1;
  onFocus(): void;
  toggle(): void;
}

function SectionRow({ route, told, row, total, isOpen, tabIndex, onFocus, toggle }: SectionRowProps) {
  const { tone, title, tokens, chars } = row;
  const size = `${chars === undefined ? "" : `${count(chars)} characters, `}about ${count(tokens)} tokens`;
  return (
    <li className={`sec ${tone}${isOpen ? " sel" : ""}`} data-section={row.id}>
      <button
        type="button"
        className="h"
        data-row
        tabIndex={tabIndex}
        aria-expanded={isOpen}
        title={size}
        onFocus={onFocus}
        onClick={toggle}
      >
        {title}
      </button>
      <span className="tok">
        <span className="sr">about </span>
        {count(tokens)}
        <span className="sr"> tokens</span>
      </span>
      <span className="pc">{shareOf(tokens, total)}</span>
      <span className="src">
        <Source route={route} told={told} row={row} />
      </span>
      <Cut told={told} row={row} />
      {isOpen && <SectionDetail route={route} told={told} row={row} />}
    </li>
  );
}
