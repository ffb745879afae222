import { ROOT, type Tree } from "../../state/tree.js";
import { type Spot, threadsByRank, whyNot } from "./move.js";
import type { Row } from "./rows.js";
import { folderOfRow, type Things } from "./things.js";

/** How a row shows what letting go over it would do. */
export type DropLook = "into" | "before" | "after" | "bad";

export interface Drop {
  /** Undefined: the free space below the rows. */
  readonly key: string | undefined;
  readonly look: DropLook;
  /** Undefined: nothing may be let go here. */
  readonly to: Spot | undefined;
}

/** What letting go would do. `part`: how far down the row the pointer is, from 0 to 1. */
export function dropAt(tree: Tree, things: Things, row: Row | undefined, part: number): Drop {
  const at = row ? overRow(tree, things, row, part) : { look: "into" as const, to: { folder: undefined } };
  const bad = whyNot(tree, things, at.to.folder) !== undefined || isItself(things, row, at.look);
  if (bad) return { key: row?.key, look: "bad", to: undefined };
  return { key: row?.key, ...at };
}

function isItself({ threads, folders }: Things, row: Row | undefined, look: DropLook): boolean {
  if (row?.kind === "thread") return threads.length === 1 && threads[0] === row.id && look !== "into";
  return row?.kind === "folder" && folders.includes(row.id);
}

function overRow(tree: Tree, things: Things, row: Row, part: number): { look: DropLook; to: Spot } {
  if (row.kind === "folder") return overFolder(tree, things, row, part);
  const folder = folderOfRow(row.key);
  const threads = row.kind === "thread" && things.folders.length === 0;
  // Among pinned threads there is no place of one's own: they stand in the order they were pinned in.
  if (!threads || tree.threads.get(row.id)?.pinned_at !== undefined) return { look: "into", to: { folder } };
  const look = part < 0.5 ? "before" : "after";
  return { look, to: { folder, afterThread: threadBefore(tree, things, { folder, id: row.id, look }) } };
}

interface Beside {
  readonly folder: string | undefined;
  readonly id: string;
  readonly look: DropLook;
}

function threadBefore(tree: Tree, { threads }: Things, { folder, id, look }: Beside): string | null {
  return unmovedBefore(threadsByRank(tree, folder), threads, { id, look });
}

/** What stands before a place beside a sibling and stays where it is; null: nothing. */
export function unmovedBefore(
  all: readonly string[],
  moved: readonly string[],
  { id, look }: Omit<Beside, "folder">,
): string | null {
  const end = all.indexOf(id) + (look === "after" ? 1 : 0);
  return all.slice(0, end).findLast((each) => !moved.includes(each)) ?? null;
}

function overFolder(tree: Tree, { folders, threads }: Things, row: Row & { open?: boolean }, part: number) {
  const into = { look: "into" as const, to: { folder: row.id } };
  const edge = row.open ? 0 : 0.25;
  const beside = threads.length === 0 && (part < 0.25 || part > 1 - edge);
  if (!beside) return into;
  const look: DropLook = part < 0.25 ? "before" : "after";
  const folder = tree.folders.get(row.id)?.parent_folder_id;
  const siblings = tree.children.get(folder ?? ROOT)?.folders ?? [];
  return { look, to: { folder, afterFolder: unmovedBefore(siblings, folders, { id: row.id, look }) } };
}
