import {
  ArrowDown,
  ArrowUp,
  Bot,
  Eraser,
  FolderInput,
  FolderOpen,
  FolderPlus,
  type LucideIcon,
  Pencil,
  Pin,
  PinOff,
  ScrollText,
  SquarePen,
  Trash2,
} from "lucide-react";
import { navigate } from "../../state/router.js";
import { ROOT, useTree } from "../../state/tree.js";
import { counted } from "../../ui/format.js";
import type { MenuItem, MenuItems } from "../../ui/menu.js";
import { clearThreads, deleteRows, newFolder, newThread, openDoc, pinThreads } from "./actions.js";
import { type Step, stepOf, stepRows } from "./step.js";
import { folderOfRow, rowsMeant, thingsOf } from "./things.js";
import { openDialog, rename } from "./view.js";

/** What can be done with a row, or with all that are selected if it is one of them; undefined: with the tree as such. */
export function menuOf(key: string | undefined): MenuItems {
  if (key === undefined) return newItems(undefined);
  const keys = rowsMeant(key);
  if (keys.length > 1) return severalItems(keys, key);
  if (key.startsWith("t:")) return threadItems(key);
  if (key.startsWith("f:")) return folderItems(key);
  if (key.startsWith("d:")) return docItems(key);
  return agentItems(key.slice(2));
}

function newItems(folder: string | undefined): MenuItem[] {
  return [
    { label: "New thread", icon: SquarePen, keys: "c", run: () => void newThread({ folder }) },
    {
      label: "New thread with another agent…",
      icon: Bot,
      keys: "shift+c",
      run: () => openDialog({ kind: "agent", folder }),
    },
    { label: "New folder", icon: FolderPlus, run: () => void newFolder(folder) },
    docItem(folder),
  ];
}

function docItem(folder: string | undefined): MenuItem {
  const known = useTree.getState().docs.has(folder ?? ROOT);
  const label = known ? "Edit AGENTS.md" : "Create AGENTS.md";
  return { label, icon: ScrollText, keys: "e", run: () => openDoc(folder) };
}

function threadItems(key: string): MenuItems {
  const thread = useTree.getState().threads.get(key.slice(2));
  const locked = thread?.read_only;
  const empty = thread?.message_count === 0 ? "it is empty" : undefined;
  return [
    ...newItems(folderOfRow(key)),
    null,
    { label: "Rename", icon: Pencil, keys: "r", off: locked, run: () => rename(key) },
    pinItem(thread ? [thread.id] : [], locked),
    {
      label: "Clear",
      icon: Eraser,
      off: locked ?? empty,
      run: () => void clearThreads([key.slice(2)]),
    },
    ...moveItems([key], key),
    null,
    { label: "Delete", icon: Trash2, keys: "del", run: () => void deleteRows([key]) },
  ];
}

/** Everything a drag does, by name. */
function moveItems(keys: readonly string[], key: string, what = ""): MenuItem[] {
  const step = (label: string, icon: LucideIcon, by: Step): MenuItem => {
    const stepped = stepOf(useTree.getState(), keys, by);
    const off = "off" in stepped ? stepped.off : undefined;
    const shown = by < 0 ? "alt+↑" : "alt+↓";
    return { label: `Move${what} ${label}`, icon, keys: shown, off, run: () => stepRows(key, keys, by) };
  };
  return [
    step("up", ArrowUp, -1),
    step("down", ArrowDown, 1),
    {
      label: `Move${what} to…`,
      icon: FolderInput,
      keys: "m",
      run: () => openDialog({ kind: "move", keys }),
    },
  ];
}

function pinItem(ids: readonly string[], off?: string): MenuItem {
  const { threads } = useTree.getState();
  const pinned = ids.every((id) => threads.get(id)?.pinned_at !== undefined);
  const what = ids.length > 1 ? ` ${counted(ids.length, "thread")}` : "";
  return {
    label: `${pinned ? "Unpin" : "Pin"}${what}`,
    icon: pinned ? PinOff : Pin,
    off,
    run: () => void pinThreads(ids, !pinned),
  };
}

function folderItems(key: string): MenuItems {
  const folder = key.slice(2);
  const ws = useTree.getState().ws as string;
  return [
    {
      label: "Open folder",
      icon: FolderOpen,
      keys: "enter",
      run: () => navigate({ view: "folder", ws, folder }),
    },
    null,
    ...newItems(folder),
    null,
    { label: "Rename", icon: Pencil, keys: "r", run: () => rename(key) },
    ...moveItems([key], key),
    null,
    { label: "Delete…", icon: Trash2, keys: "del", run: () => void deleteRows([key]) },
  ];
}

function docItems(key: string): MenuItems {
  const folder = folderOfRow(key);
  const none = useTree.getState().docs.has(folder ?? ROOT) ? undefined : "not saved yet";
  return [
    ...newItems(folder),
    null,
    { label: "Delete…", icon: Trash2, keys: "del", off: none, run: () => void deleteRows([key]) },
  ];
}

function agentItems(agent: string): MenuItems {
  return [
    { label: "New thread", icon: SquarePen, run: () => void newThread({ agent }) },
    {
      label: "New thread with another agent…",
      icon: Bot,
      keys: "shift+c",
      run: () => openDialog({ kind: "agent", folder: undefined }),
    },
  ];
}

function severalItems(keys: readonly string[], key: string): MenuItems {
  const { threads, folders } = thingsOf(keys);
  const count = threads.length + folders.length;
  const items: (MenuItem | null)[] = [];
  if (threads.length > 0) {
    const label = `Clear ${counted(threads.length, "thread")}`;
    items.push(pinItem(threads), { label, icon: Eraser, run: () => void clearThreads(threads) });
  }
  if (count > 0) {
    const what = folders.length > 0 ? counted(count, "row") : counted(count, "thread");
    items.push(...moveItems(keys, key, ` ${what}`), null, {
      label: folders.length > 0 ? `Delete ${what}…` : `Delete ${what}`,
      icon: Trash2,
      keys: "del",
      run: () => void deleteRows(keys),
    });
  }
  return items;
}
