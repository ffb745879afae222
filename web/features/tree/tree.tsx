import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import { type MouseEvent, useCallback, useEffect, useLayoutEffect, useRef } from "react";
import { useRoute } from "../../state/router.js";
import { folderPath, useTree } from "../../state/tree.js";
import { Menu } from "../../ui/menu.js";
import { useMarks } from "./marks.js";
import { menuOf } from "./menus.js";
import { clickRow, openInNewWindow, openRow } from "./open-row.js";
import { TreeRow } from "./row.js";
import type { Rows } from "./rows.js";
import { folderOfRow } from "./things.js";
import { extend, pressKey, togglePicked } from "./tree-keys.js";
import { useDrag } from "./use-drag.js";
import { useLongPress } from "./use-long-press.js";
import { rowOfRoute, useRowLeft } from "./use-rows.js";
import { keptScroll, useAnchor, useRowHeight } from "./use-scroll.js";
import { setFocusRow, setOpen, unpick, useView } from "./view.js";

interface ThreadTreeProps {
  readonly ws: string;
  readonly rows: Rows;
}

/** Folders, threads and documents, as one list of rows of which only those in view are drawn. */
export function ThreadTree({ ws, rows }: ThreadTreeProps) {
  const marks = useMarks();
  const scroller = useRef<HTMLDivElement>(null);
  const view = useView();
  const current = rowOfRoute(useRoute());
  const left = useRowLeft();
  const marked = current ?? left;
  const height = useRowHeight();
  const focusAt = focusIndex(rows, view.focus, marked);
  const renamingAt = view.renaming === undefined ? undefined : rows.at.get(view.renaming);
  const virtual = useVirtualizer({
    count: rows.list.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 12,
    initialOffset: () => keptScroll(ws),
    // A row that has the focus or a field must not be taken away by scrolling.
    rangeExtractor: (range) => withThese(range, [focusAt, renamingAt]),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: only another height makes them stale
  useLayoutEffect(() => virtual.measure(), [height]);
  const scrolled = useAnchor({ scroller, rows, height, ws, loose: view.filter !== undefined });
  const rowAt = useCallback((target: EventTarget) => indexOf(target), []);
  const go = useRowFocus({ scroller, rows, focusAt, show: (at) => virtual.scrollToIndex(at) });
  useReveal(rows, marked, (at) => virtual.scrollToIndex(at));
  useFollow(rows, (at) => virtual.scrollToIndex(at));
  const { drop, on } = useDrag(rows, rowAt);
  const pointer = usePointer(rows, scroller);
  const press = useLongPress(pointer.menu);
  const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? height) / height) - 1);
  return (
    <>
      <div
        ref={scroller}
        className={`tree thin-scroll${drop && drop.key === undefined ? " drop-into" : ""}`}
        role="tree"
        aria-label="Threads"
        aria-multiselectable="true"
        tabIndex={-1}
        onScroll={scrolled}
        onKeyDown={(event) => pressKey(event, { rows, at: focusAt, page, go, showMenu: pointer.menuAt })}
        onFocus={(event) => focused(event.target, rows)}
        {...pointer.on}
        {...press}
        {...on}
      >
        <div className="tree-rows" role="presentation" style={{ height: virtual.getTotalSize() }}>
          {virtual.getVirtualItems().map(({ index }) => {
            const row = rows.list[index];
            return (
              row && (
                <TreeRow
                  key={row.key}
                  row={row}
                  at={index}
                  top={index * height}
                  mark={marks.get(row.key)}
                  tab={index === focusAt}
                  current={row.key === current}
                  selected={row.key === marked || view.picked.has(row.key)}
                  picked={view.picked.has(row.key)}
                  renaming={view.renaming === row.key}
                  drop={drop?.key === row.key ? drop.look : undefined}
                />
              )
            );
          })}
        </div>
      </div>
      {view.menu && (
        <Menu label="Actions" items={view.menu.items} anchor={view.menu.anchor} onClose={closeMenu} />
      )}
    </>
  );
}

function closeMenu(): void {
  useView.setState({ menu: undefined });
}

function indexOf(target: EventTarget): number | undefined {
  const row = target instanceof Element ? target.closest<HTMLElement>("[data-at]") : null;
  return row ? Number(row.dataset.at) : undefined;
}

function focusIndex({ at, list }: Rows, focus: string | undefined, current: string | undefined): number {
  const known = (key: string | undefined) => (key === undefined ? undefined : at.get(key));
  return Math.min(known(focus) ?? known(current) ?? 0, Math.max(0, list.length - 1));
}

function withThese(range: Range, extra: readonly (number | undefined)[]): number[] {
  const shown = new Set(defaultRangeExtractor(range));
  for (const at of extra) if (at !== undefined && at < range.count) shown.add(at);
  return [...shown].sort((a, b) => a - b);
}

function focused(target: EventTarget, rows: Rows): void {
  const at = indexOf(target);
  const row = at === undefined ? undefined : rows.list[at];
  if (row) setFocusRow(row.key);
}

interface FocusGiven {
  readonly scroller: React.RefObject<HTMLDivElement | null>;
  readonly rows: Rows;
  readonly focusAt: number;
  show(at: number): void;
}

/** Moves the focus between rows, and finds it a row when its own is gone. */
function useRowFocus({ scroller, rows, focusAt, show }: FocusGiven): (at: number) => void {
  const wanted = useRef(false);
  const had = useRef<{ at: number; row: Element }>(undefined);
  useLayoutEffect(() => {
    const place = scroller.current;
    const lost = had.current?.row.isConnected === false && document.activeElement === document.body;
    const { grab } = useView.getState();
    if (!place || rows.list.length === 0 || !(wanted.current || lost || grab)) return;
    const at = lost ? Math.min(had.current?.at ?? 0, rows.list.length - 1) : focusAt;
    const row = rows.list[at];
    const drawn = place.querySelector<HTMLElement>(`[data-at="${at}"]`);
    wanted.current = row !== undefined && (at !== focusAt || !drawn);
    if (row && at !== focusAt) setFocusRow(row.key);
    else drawn?.focus({ preventScroll: true });
    if (grab) useView.setState({ grab: false });
  });
  useEffect(() => {
    const place = scroller.current;
    if (!place) return;
    const came = (event: FocusEvent) => {
      const at = indexOf(event.target as EventTarget);
      had.current = at === undefined ? undefined : { at, row: event.target as Element };
    };
    // Of a row that is taken away the person has not turned: only one that is still there afterwards was left.
    const left = ({ target }: FocusEvent) => {
      setTimeout(() => {
        if (had.current?.row === target && (target as Element).isConnected) had.current = undefined;
      });
    };
    place.addEventListener("focusin", came);
    place.addEventListener("focusout", left);
    return () => {
      place.removeEventListener("focusin", came);
      place.removeEventListener("focusout", left);
    };
  }, [scroller]);
  return (at) => {
    const row = rows.list[at];
    if (!row) return;
    wanted.current = true;
    show(at);
    if (useView.getState().focus === row.key) {
      scroller.current?.querySelector<HTMLElement>(`[data-at="${at}"]`)?.focus({ preventScroll: true });
      wanted.current = false;
    } else setFocusRow(row.key);
  };
}

/** What main shows has a row in view: once, when it is opened, and not again when the person closes its folder. */
function useReveal(rows: Rows, current: string | undefined, show: (at: number) => void): void {
  const opened = useRef<string>(undefined);
  const shown = useRef<string>(undefined);
  const known = useTree((tree) => current !== undefined && isKnown(tree, current));
  useEffect(() => {
    if (current === undefined || !known || opened.current === current) return;
    opened.current = current;
    const above = folderPath(useTree.getState(), folderOfRow(current)).map(({ id }) => id);
    setOpen(current.startsWith("f:") ? above.slice(0, -1) : above, true);
  }, [current, known]);
  useEffect(() => {
    if (current === undefined) shown.current = opened.current = undefined;
    if (current === undefined || shown.current === current) return;
    const at = rows.at.get(current);
    if (at === undefined) return;
    shown.current = current;
    if (useView.getState().picked.size === 0) setFocusRow(current);
    show(at);
  });
}

/** A row that was moved by keys or menu stays in view. */
function useFollow(rows: Rows, show: (at: number) => void): void {
  const reveal = useView((view) => view.reveal);
  useEffect(() => {
    const at = reveal === undefined ? undefined : rows.at.get(reveal);
    if (reveal !== undefined) useView.setState({ reveal: undefined });
    if (at !== undefined) show(at);
  });
}

function isKnown(tree: Parameters<typeof folderPath>[0], key: string): boolean {
  const id = key.slice(2);
  return key.startsWith("t:") ? tree.places.has(id) : key.startsWith("d:") || tree.folders.has(id);
}

/** Clicks of all kinds. */
function usePointer(rows: Rows, scroller: React.RefObject<HTMLDivElement | null>) {
  const rowOf = (event: { readonly target: EventTarget }) => {
    const at = indexOf(event.target);
    return at === undefined ? undefined : { at, row: rows.list[at] };
  };
  const showMenu = (at: number | undefined, anchor: { x: number; y: number } | HTMLElement) => {
    const row = at === undefined ? undefined : rows.list[at];
    if (row) {
      setFocusRow(row.key);
      const element = scroller.current?.querySelector<HTMLElement>(`[data-at="${at}"]`);
      element?.focus({ preventScroll: true });
      if (!useView.getState().picked.has(row.key)) unpick();
    }
    useView.setState({ menu: { items: menuOf(row?.key), anchor } });
  };
  const clicked = (event: MouseEvent) => {
    const found = rowOf(event);
    if (!found?.row || (event.target as Element).closest("input")) return;
    const { row, at } = found;
    const more = (event.target as Element).closest<HTMLElement>("[data-more]");
    if (more) showMenu(at, more);
    else if (event.metaKey || event.ctrlKey) togglePicked(row.key);
    else if (event.shiftKey) extend(rows, rows.at.get(useView.getState().focus ?? "") ?? at, at);
    else {
      unpick();
      clickRow(row);
    }
    setFocusRow(row.key);
  };
  return {
    menu: (target: EventTarget, x: number, y: number) => showMenu(indexOf(target), { x, y }),
    menuAt: (at: number) => {
      const row = scroller.current?.querySelector<HTMLElement>(`[data-at="${at}"]`);
      if (row) showMenu(at, row);
    },
    on: {
      onClick: clicked,
      onDoubleClick: (event: MouseEvent) => {
        const row = rowOf(event)?.row;
        if (row?.kind === "folder") openRow(row);
      },
      onAuxClick: (event: MouseEvent) => {
        const row = rowOf(event)?.row;
        if (row && event.button === 1) openInNewWindow(row);
      },
      onContextMenu: (event: MouseEvent) => {
        event.preventDefault();
        showMenu(indexOf(event.target), { x: event.clientX, y: event.clientY });
      },
    },
  };
}
