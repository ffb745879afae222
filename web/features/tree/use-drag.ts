import { type DragEvent, useMemo, useRef, useState } from "react";
import { usePrefs } from "../../state/prefs.js";
import { useTree } from "../../state/tree.js";
import { type Drop, dropAt } from "./drop.js";
import { moveRows } from "./move.js";
import type { Row, Rows } from "./rows.js";
import { rowsMeant, thingsOf, topmost } from "./things.js";
import { setOpen } from "./view.js";
import { named } from "./words.js";

const TYPE = "application/x-heddle-rows";
/** How long one rests over a closed folder until it opens. */
const OPENS_AFTER_MS = 600;

interface Dragging {
  readonly drop: Drop | undefined;
  readonly on: {
    onDragStart(event: DragEvent): void;
    onDragOver(event: DragEvent): void;
    onDragLeave(event: DragEvent): void;
    onDrop(event: DragEvent): void;
    onDragEnd(): void;
  };
}

/** Rows that are dragged, and where they may be let go. */
export function useDrag(rows: Rows, rowAt: (target: EventTarget) => number | undefined): Dragging {
  const [drop, setDrop] = useState<Drop>();
  const dragged = useRef<readonly string[]>([]);
  const rest = useRef<{ key: string; timer: ReturnType<typeof setTimeout> }>(undefined);
  const latest = useRef({ rows, rowAt });
  latest.current = { rows, rowAt };
  const on = useMemo(() => {
    const end = () => {
      clearTimeout(rest.current?.timer);
      rest.current = undefined;
      dragged.current = [];
      setDrop(undefined);
    };
    const look = (event: DragEvent) => {
      const tree = useTree.getState();
      const at = latest.current.rowAt(event.target);
      const row = at === undefined ? undefined : latest.current.rows.list[at];
      const box = (event.target as Element).closest("[data-at]")?.getBoundingClientRect();
      const part = box ? (event.clientY - box.top) / box.height : 0;
      return { row, drop: dropAt(tree, topmost(tree, thingsOf(dragged.current)), row, part) };
    };
    return {
      onDragStart(event: DragEvent) {
        const at = latest.current.rowAt(event.target);
        const row = at === undefined ? undefined : latest.current.rows.list[at];
        // Which agent answers in a thread is not changed by putting it elsewhere, and agents have no order of their own.
        if (!row || usePrefs.getState().groupBy === "agent") return event.preventDefault();
        dragged.current = rowsMeant(row.key).filter((key) => /^[tf]:/.test(key));
        event.dataTransfer.effectAllowed = "move";
        event.dataTransfer.setData(TYPE, dragged.current.join("\n"));
        if (dragged.current.length > 1) showCount(event, named(thingsOf(dragged.current)));
      },
      onDragOver(event: DragEvent) {
        if (dragged.current.length === 0) return;
        const { row, drop: next } = look(event);
        rest.current = resting(rest.current, row);
        setDrop((before) => (isSame(before, next) ? before : next));
        event.preventDefault();
        event.dataTransfer.dropEffect = next.to ? "move" : "none";
      },
      onDragLeave(event: DragEvent) {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setDrop(undefined);
      },
      onDrop(event: DragEvent) {
        if (dragged.current.length === 0) return;
        event.preventDefault();
        const { to } = look(event).drop;
        const keys = dragged.current;
        end();
        if (to) void moveRows(keys, to);
      },
      onDragEnd: end,
    };
  }, []);
  return { drop, on };
}

function isSame(a: Drop | undefined, b: Drop): boolean {
  return a !== undefined && a.key === b.key && a.look === b.look;
}

type Resting = { key: string; timer: ReturnType<typeof setTimeout> } | undefined;

function resting(before: Resting, row: Row | undefined): Resting {
  if (before?.key === row?.key) return before;
  clearTimeout(before?.timer);
  if (row?.kind !== "folder" || row.open) return undefined;
  return { key: row.key, timer: setTimeout(() => setOpen([row.id], true), OPENS_AFTER_MS) };
}

/** What follows the pointer when it is more than the row itself. */
function showCount(event: DragEvent, words: string): void {
  const chip = document.createElement("div");
  chip.className = "drag-chip";
  chip.textContent = words;
  document.body.append(chip);
  event.dataTransfer.setDragImage(chip, -8, -8);
  setTimeout(() => chip.remove());
}
