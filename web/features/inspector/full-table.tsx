import type { CSSProperties } from "react";
import type { ThreadRoute } from "../../state/router.js";
import { count } from "../../ui/format.js";
import type { Change, Comparison } from "./compare.js";
import { Cut } from "./cut.js";
import { useHooks } from "./data.js";
import { signed } from "./full-summary.js";
import { useRoving } from "./roving.js";
import { Refused } from "./section-detail.js";
import { Source } from "./source.js";
import { type Row, rowsOf, shareOf, type Told } from "./told.js";

interface TableProps {
  readonly route: ThreadRoute;
  readonly told: Told;
  readonly comparison: Comparison | undefined;
  /** The compared run's name: `run 13`. */
  readonly against: string | undefined;
  readonly selected: string | undefined;
  select(id: string, wants?: "cut"): void;
}

/** Every section with what changed in it. */
export function SectionTable({ route, told, comparison, against, selected, select }: TableProps) {
  const rows = rowsOf(told.manifest);
  const roving = useRoving([...rows, ...(comparison?.gone ?? [])].map(({ id }) => id));
  const total = told.manifest.window.tokens_estimate;
  return (
    <div className={`tbl${against ? "" : " alone"}`} onKeyDown={roving.onKeyDown}>
      <div className="th" aria-hidden="true">
        <span>Section, in the order sent</span>
        <span className="n">Tokens, about</span>
        <span>Share</span>
        {against && <span>Against {against}</span>}
      </div>
      <ol aria-label="Sections, in the order sent">
        {rows.map((row) => (
          <TableRow
            key={row.id}
            {...{ route, told, row, total }}
            change={comparison?.changes.get(row.id)}
            isSelected={row.id === selected}
            tabIndex={roving.tabIndexOf(row.id)}
            onFocus={() => roving.onFocus(row.id)}
            select={(wants) => select(row.id, wants)}
          />
        ))}
        {comparison?.gone.map((row) => (
          <li key={row.id} className={`tb gone ${row.tone}`} data-section={row.id}>
            <span className="h ink-3">{row.title}</span>
            <span className="n">0</span>
            <span className="sh" />
            <span className="chg">
              <b>{signed(-row.tokens)}</b> not any more
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}

interface TableRowProps {
  readonly route: ThreadRoute;
  readonly told: Told;
  readonly row: Row;
  readonly total: number;
  readonly change: Change | undefined;
  readonly isSelected: boolean;
  readonly tabIndex: 0 | -1;
  onFocus(): void;
  select(wants?: "cut"): void;
}

function TableRow({ route, told, row, total, change, isSelected, tabIndex, onFocus, select }: TableRowProps) {
  const share = total === 0 ? 0 : (100 * row.tokens) / total;
  return (
    <li className={`tb ${row.tone}${isSelected ? " sel" : ""}`} data-section={row.id}>
      <button
        type="button"
        className="h"
        data-row
        tabIndex={tabIndex}
        aria-pressed={isSelected}
        onFocus={onFocus}
        onClick={() => select()}
      >
        {row.title}
      </button>
      <span className="n">{count(row.tokens)}</span>
      <span className="sh">
        <span>
          <i style={{ "--v": share } as CSSProperties} />
        </span>
        <em>{shareOf(row.tokens, total)}</em>
      </span>
      {change && <ChangeWords of={change} />}
      <span className="src">
        <Source route={route} told={told} row={row} />
        <Budget row={row} />
      </span>
      {row.id === "tools" && <Refused told={told} />}
      <Cut told={told} row={row} show={() => select("cut")} />
    </li>
  );
}

function ChangeWords({ of: { same, delta, words } }: { readonly of: Change }) {
  if (same) return <span className="chg">same bytes</span>;
  return (
    <span className="chg">
      <b>{signed(delta)}</b> {words}
    </span>
  );
}

/** `, hook budget 16,000, nothing cut` */
function Budget({ row: { section } }: { readonly row: Row }) {
  const cut = section && section.truncation !== "none";
  const asks = section?.id === "agents_md" && !cut;
  const { data } = useHooks(asks);
  const budget = data?.find(({ hook_id }) => hook_id === section?.source.hook_id)?.budget;
  if (!asks || budget === undefined) return null;
  return <>, hook budget {count(budget)}, nothing cut</>;
}
