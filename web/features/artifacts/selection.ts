import { useEffect, useRef } from "react";
import { pickItems, usePicked } from "../../state/panels.js";
import type { Item } from "./tools.js";

export interface Selection {
  readonly ids: ReadonlySet<string>;
  readonly items: readonly Item[];
  /** Only this one; where it was the only one, none. */
  only(id: string): void;
  toggle(id: string): void;
  /** From where one was last to here. */
  to(id: string): void;
  all(): void;
  clear(): void;
}

/** What is selected among these items. Others hear of it: it goes along with messages. */
export function useSelection(panelId: string, items: readonly Item[]): Selection {
  const picked = usePicked(panelId);
  const anchor = useRef<string | undefined>(undefined);
  const ids = new Set(picked);
  const set = (next: ReadonlySet<string>) =>
    pickItems(
      panelId,
      items.filter(({ id }) => next.has(id)).map(({ id }) => id),
    );
  useEffect(() => {
    // What is gone can't be selected any more; what a filter hides stays so.
    const there = new Set(items.map(({ id }) => id));
    if (picked.some((id) => !there.has(id))) {
      pickItems(
        panelId,
        picked.filter((id) => there.has(id)),
      );
    }
  }, [panelId, items, picked]);
  return {
    ids,
    items: items.filter(({ id }) => ids.has(id)),
    only(id) {
      const wasOnly = ids.size === 1 && ids.has(id);
      anchor.current = id;
      set(wasOnly ? new Set() : new Set([id]));
    },
    toggle(id) {
      anchor.current = id;
      const next = new Set(ids);
      if (!next.delete(id)) next.add(id);
      set(next);
    },
    to(id) {
      set(new Set([...ids, ...between(items, anchor.current ?? id, id)]));
    },
    all: () => set(new Set(items.map((item) => item.id))),
    clear: () => set(new Set()),
  };
}

function between(items: readonly Item[], one: string, other: string): string[] {
  const at = [one, other].map((id) => items.findIndex((item) => item.id === id));
  const [from = 0, to = 0] = at.sort((a, b) => a - b);
  return items.slice(Math.max(0, from), to + 1).map(({ id }) => id);
}
