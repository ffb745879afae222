import { useEffect } from "react";

const PANES = [".side", ".main", ".insp"] as const;

/** In each pane what had the focus last. */
const last = new Map<string, HTMLElement>();

export function useLastFocus(): void {
  useEffect(() => {
    const came = ({ target }: FocusEvent) => {
      if (!(target instanceof HTMLElement)) return;
      const pane = PANES.find((each) => target.closest(each));
      if (pane) last.set(pane, target);
    };
    addEventListener("focusin", came);
    return () => removeEventListener("focusin", came);
  }, []);
}

/** The next pane in reading order gets the focus, where it was last; one that has no place for it is passed over. */
export function focusPane(step: 1 | -1): void {
  const panes = PANES.filter((name) => document.querySelector(name) !== null);
  const at = panes.findIndex((name) => document.querySelector(name)?.contains(document.activeElement));
  // Without a focus the first pane is the next of none, and the last the one before.
  const from = at < 0 && step < 0 ? 0 : at;
  const turns = panes.map((_, by) => panes[(from + step * (by + 1) + 2 * panes.length) % panes.length]);
  turns
    .map((name) => name && placeIn(name))
    .find(Boolean)
    ?.focus();
}

/** Where somebody goes on whose place is gone: in the tree, or in main where there is none. */
export function firstPlace(): HTMLElement | undefined {
  return placeIn(".side") ?? placeIn(".main");
}

/** Where each pane begins: the tree's row, the text or the composer, the tab. */
const BEGINS = "[role=treeitem][tabindex='0'], [data-pane-focus], .dock textarea, [role=tab][tabindex='0']";
const ANY = "[tabindex='0'], button, a[href], textarea";

function placeIn(name: (typeof PANES)[number]): HTMLElement | undefined {
  const pane = document.querySelector<HTMLElement>(name);
  const before = last.get(name);
  if (pane && before && pane.contains(before) && canTakeFocus(before)) return before;
  const places = (which: string) => [...(pane?.querySelectorAll<HTMLElement>(which) ?? [])];
  return places(BEGINS).find(canTakeFocus) ?? places(ANY).find(canTakeFocus);
}

function canTakeFocus(place: HTMLElement): boolean {
  return place.checkVisibility() && !place.matches(":disabled");
}
