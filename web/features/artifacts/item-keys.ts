import type { KeyboardEvent } from "react";
import { usePrefs } from "../../state/prefs.js";
import type { Selection } from "./selection.js";
import type { Item } from "./tools.js";

export interface ItemActs {
  done(items: readonly Item[], done: boolean): void;
  edit(item: Item): void;
  remove(items: readonly Item[]): void;
  /** Where items have an order that is theirs. */
  put?: ((item: Item, at: Item) => void) | undefined;
}

interface ItemKeys {
  readonly items: readonly Item[];
  readonly at: number;
  readonly selection: Selection;
  readonly act: ItemActs;
  go(to: number): void;
  menu(): void;
}

/** What keys do in a list: the item one is at, or all that are selected where it is one of them. */
export function itemKey(event: KeyboardEvent, keys: ItemKeys): void {
  const held = event.ctrlKey || event.metaKey;
  const done = event.altKey
    ? shifted(event.key, keys)
    : held
      ? together(event.key, keys)
      : plain(event, keys);
  if (!done) return;
  event.preventDefault();
  event.stopPropagation();
}

function shifted(key: string, { items, at, act, go }: ItemKeys): boolean {
  const step = key === "ArrowUp" ? -1 : key === "ArrowDown" ? 1 : 0;
  const [item, other] = [items[at], items[at + step]];
  if (step === 0 || !act.put || !item || !other) return false;
  act.put(item, other);
  go(at + step);
  return true;
}

function together(key: string, { selection }: ItemKeys): boolean {
  if (key !== "a") return false;
  selection.all();
  return true;
}

function plain(event: KeyboardEvent, keys: ItemKeys): boolean {
  return moves(event, keys) || acts(event, keys);
}

const STEPS: Readonly<Record<string, number>> = { ArrowUp: -1, ArrowDown: 1, PageUp: -10, PageDown: 10 };

function moves({ key, shiftKey }: KeyboardEvent, { items, at, selection, go }: ItemKeys): boolean {
  const step = STEPS[key];
  const target =
    key === "Home" ? 0 : key === "End" ? items.length - 1 : step === undefined ? undefined : at + step;
  if (target === undefined || items.length === 0) return false;
  const to = Math.max(0, Math.min(target, items.length - 1));
  if (shiftKey) {
    const [here, there] = [items[at], items[to]];
    if (here && !selection.ids.has(here.id)) selection.toggle(here.id);
    if (there) selection.to(there.id);
  }
  go(to);
  return true;
}

function acts({ key }: KeyboardEvent, { items, at, selection, act, menu }: ItemKeys): boolean {
  const item = items[at];
  if (key === "Escape") {
    if (selection.ids.size === 0) return false;
    selection.clear();
    return true;
  }
  if (!item) return false;
  const meant = selection.ids.has(item.id) ? selection.items : [item];
  if (key === " ") selection.toggle(item.id);
  else if (key === "Enter" || key === "F2") act.edit(item);
  else if (key.toLowerCase() === "x" && usePrefs.getState().singleKeys) act.done(meant, !item.done);
  else if (key === "Delete" || key === "Backspace") act.remove(meant);
  else if (key === "ContextMenu" || key === "F10") menu();
  else return false;
  return true;
}
