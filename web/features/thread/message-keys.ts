import type { KeyboardEvent } from "react";
import { isTyping } from "../../shell/keys.js";
import { usePrefs } from "../../state/prefs.js";
import type { Item } from "./items.js";
import { actionsOf } from "./message-actions.js";
import { usePlace, useShowContext } from "./place.js";
import { setOpen, useReading } from "./reading.js";
import type { Scroller } from "./scroller.js";

/** Keys that work while a message has the focus. */
export function useMessageKeys(scroller: Scroller, items: readonly Item[]): (event: KeyboardEvent) => void {
  const place = usePlace();
  const showContext = useShowContext();
  const go = (index: number) => {
    const item = items[index];
    if (!item) return;
    useReading.setState({ current: item.key });
    scroller.virtualizer.scrollToIndex(index, { align: "auto" });
    focusItem(scroller, item.key);
  };
  return (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target))
      return;
    const element = (event.target as HTMLElement).closest<HTMLElement>("[data-item]");
    if (!element) return;
    const at = items.findIndex(({ key }) => key === element.dataset.item);
    const item = items[at];
    if (!item) return;
    const keys: Record<string, (() => void) | undefined> = {
      ArrowUp: () => go(at - 1),
      ArrowDown: () => go(at + 1),
      Home: () => go(0),
      End: () => {
        scroller.toEnd();
        go(items.length - 1);
      },
      ...(event.target === element && { Enter: () => openRows(element) }),
      ...(usePrefs.getState().singleKeys && letters(item, items.slice(0, at + 1))),
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };

  function letters(item: Item, before: readonly Item[]): Record<string, (() => void) | undefined> {
    const asked = before.findLast(({ kind }) => kind === "user")?.key;
    const actions = actionsOf(item, place, showContext, asked);
    return { y: actions?.copy, r: actions?.edit, f: actions?.fork, x: actions?.context };
  }
}

/** Opens every row of a message, or closes them all when all are open. */
function openRows(element: HTMLElement): void {
  const rows = [...element.querySelectorAll<HTMLElement>("[data-row]")];
  const closed = rows.some((row) => row.getAttribute("aria-expanded") === "false");
  setOpen(
    rows.map((row) => row.dataset.row as string),
    closed,
  );
}

const FRAMES = 12;

/** It may have to be drawn first. */
function focusItem({ box }: Scroller, key: string, left = FRAMES): void {
  const found = box.current?.querySelector<HTMLElement>(`[data-item="${CSS.escape(key)}"]`);
  if (found) found.focus({ preventScroll: true });
  else if (left > 0) requestAnimationFrame(() => focusItem({ box } as Scroller, key, left - 1));
}
