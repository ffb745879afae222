import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef } from "react";
import type { ThreadRoute } from "../../state/router.js";
import type { ShownRun } from "./data.js";
import { useRoving } from "./roving.js";
import { RunItem } from "./run-item.js";
import { useOlder, useRunRows } from "./runs-list.js";
import { Problem } from "./states.js";

const ROW = 48;

/** The thread's runs, newest first, with what was delegated from them. */
export function RunsTab({ route, shown }: { readonly route: ThreadRoute; readonly shown: ShownRun }) {
  const rows = useRunRows(route.thread);
  const older = useOlder(route.ws, route.thread);
  const scroll = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW,
    getItemKey: (at) => rows[at]?.run.id ?? at,
    overscan: 8,
  });
  const roving = useRoving(rows.map(({ run }) => run.id));
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const oldest = shown.runs[0]?.number ?? 1;
  useEffect(() => {
    if (oldest > 1 && last >= rows.length - 20) older();
  }, [last, rows.length, oldest, older]);
  if (shown.error) return <Problem error={shown.error} />;
  if (rows.length === 0)
    return <p className="ip small ink-3 insp-blank">{shown.loading ? "" : "No runs yet"}</p>;
  return (
    <div className="insp-body" ref={scroll}>
      <ol
        className="runs"
        aria-label="Runs, newest first"
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={roving.onKeyDown}
      >
        {items.map(({ index, key, start }) => {
          const row = rows[index];
          if (!row) return null;
          const { id } = row.run;
          return (
            <RunItem
              key={key}
              row={row}
              route={route}
              isShown={id === shown.run?.id}
              style={{ transform: `translateY(${start}px)` }}
              place={{ at: index + 1, of: rows.length }}
              tabIndex={roving.tabIndexOf(id)}
              onFocus={() => roving.onFocus(id)}
            />
          );
        })}
      </ol>
    </div>
  );
}
