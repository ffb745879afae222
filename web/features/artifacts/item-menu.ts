import {
  Check,
  ExternalLink,
  MoveDown,
  MoveUp,
  Pencil,
  SlidersHorizontal,
  Square,
  Trash2,
} from "lucide-react";
import type { MenuItem, MenuItems } from "../../ui/menu.js";
import { ICONS } from "./artifact-actions.js";
import { knownNames } from "./data.js";
import { moveItems } from "./item-actions.js";
import type { ItemActs } from "./item-keys.js";
import type { Item } from "./tools.js";

interface Given {
  readonly items: readonly Item[];
  readonly all: readonly Item[];
  readonly act: ItemActs;
  details(item: Item): void;
  moveTo(): void;
}

/** What can be done with items: with one, more than with several. */
export function itemMenu({ items, all, act, details, moveTo }: Given): MenuItems {
  const [item, ...others] = items;
  if (!item) return [];
  const open = items.some(({ done }) => !done);
  const single = others.length === 0 ? ofOne(item, all, act, details) : [];
  return [
    {
      label: open ? "Mark done" : "Mark open",
      icon: open ? Check : Square,
      keys: "x",
      run: () => act.done(items, open),
    },
    ...single,
    { label: "Move to…", run: () => setTimeout(moveTo) },
    null,
    { label: "Delete", icon: Trash2, keys: "delete", run: () => act.remove(items) },
  ];
}

function ofOne(item: Item, all: readonly Item[], act: ItemActs, details: (item: Item) => void): MenuItem[] {
  const at = all.findIndex(({ id }) => id === item.id);
  const put = (label: string, icon: typeof MoveUp, other: Item | undefined): MenuItem[] =>
    act.put && other ? [{ label, icon, run: () => act.put?.(item, other) }] : [];
  const { url } = item;
  return [
    { label: "Edit", icon: Pencil, keys: "enter", run: () => setTimeout(() => act.edit(item)) },
    { label: "Details…", icon: SlidersHorizontal, run: () => setTimeout(() => details(item)) },
    ...(url ? [{ label: "Open link", icon: ExternalLink, hint: hostOf(url), run: () => follow(url) }] : []),
    ...put("Move up", MoveUp, all[at - 1]),
    ...put("Move down", MoveDown, all[at + 1]),
  ];
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "";
}

/** Where it leads must not be able to reach back into this page. */
function follow(url: string): void {
  if (/^(https?|mailto):/i.test(url)) open(url, "_blank", "noopener,noreferrer");
}

/** The lists that items can go to. */
export function listMenu(items: readonly Item[], from: string): MenuItems {
  const lists = knownNames().filter(({ kind, id }) => kind === "list" && id !== from);
  if (lists.length === 0) return [{ label: "No other list", off: "make one first", run: () => {} }];
  return lists.map((list) => ({
    label: list.name,
    icon: ICONS.list,
    run: () => void moveItems(items, { id: from }, list),
  }));
}
