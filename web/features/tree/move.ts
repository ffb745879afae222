import { command } from "../../state/gateway.js";
import { dismiss, isShown, toastProblem, toastUndo } from "../../state/toasts.js";
import { folderPath, ROOT, type Tree, useTree } from "../../state/tree.js";
import { type Things, thingsOf, topmost } from "./things.js";
import { setOpen } from "./view.js";
import { folderName, named } from "./words.js";

/** Where something is put. `after`: the sibling it comes behind; `null`: first; absent: where the gateway puts new ones. */
export interface Spot {
  /** Undefined: the root. */
  readonly folder: string | undefined;
  readonly afterThread?: string | null | undefined;
  readonly afterFolder?: string | null | undefined;
}

/** Why these can't go there; undefined: they can. */
export function whyNot(tree: Tree, { folders }: Things, to: string | undefined): string | undefined {
  const path = folderPath(tree, to);
  const own = path.find(({ id }) => folders.includes(id));
  return own && `${own.name} can't be moved into itself.`;
}

interface Said {
  readonly words: string;
  /** Rows that were moved so before, while that can be taken back: one way back leads to where they were at first. */
  readonly again: true;
}

/** Moves rows, in their order, and offers to put them back. Resolves once the tree shows them there. */
export async function moveRows(keys: readonly string[], to: Spot, said?: Said): Promise<void> {
  const tree = useTree.getState();
  const things = inOrder(tree, topmost(tree, thingsOf(keys)));
  const before = [...things.folders.map(folderSpot(tree)), ...things.threads.map(threadSpot(tree))];
  const ends = tree.ws === undefined || before.length === 0;
  if (ends || whyNot(tree, things, to.folder) !== undefined) return;
  const ws = tree.ws as string;
  const words = said?.words ?? movedWords(tree, things, to);
  const moved: Move[] = [];
  try {
    let { afterFolder, afterThread = null } = to;
    for (const folder of things.folders) {
      await put(ws, { folder, to: { folder: to.folder, afterFolder } });
      moved.push(before[moved.length] as Move);
      afterFolder = folder;
    }
    for (const thread of things.threads) {
      await put(ws, { thread, to: { folder: to.folder, afterThread } });
      moved.push(before[moved.length] as Move);
      afterThread = thread;
    }
    if (to.folder !== undefined) setOpen([to.folder], true);
  } catch (error) {
    toastProblem(error);
  }
  if (moved.length > 0) offerBack(ws, words, said ? sinceFirst(moved) : moved);
}

/** What the last offer to put rows back would do. */
let offered: { readonly toast: number; readonly moved: readonly Move[] } | undefined;

function offerBack(ws: string, words: string, moved: readonly Move[]): void {
  offered = { moved, toast: toastUndo(words, () => putBack(ws, moved)) };
}

/** Where the same rows were before all their moves that can still be taken back; the offer of those is replaced. */
function sinceFirst(moved: readonly Move[]): readonly Move[] {
  const rows = (all: readonly Move[]) => all.map(({ thread, folder }) => thread ?? folder).join();
  if (!offered || !isShown(offered.toast) || rows(offered.moved) !== rows(moved)) return moved;
  dismiss(offered.toast);
  return offered.moved;
}

async function putBack(ws: string, moved: readonly Move[]): Promise<void> {
  for (const move of moved) await put(ws, move);
}

interface Move {
  readonly thread?: string;
  readonly folder?: string;
  readonly to: Spot;
}

async function put(workspace_id: string, { thread, folder, to }: Move): Promise<void> {
  if (thread !== undefined) {
    const params = { workspace_id, thread_id: thread, folder_id: to.folder, after_id: to.afterThread };
    const { placement } = await command("thread/move", params);
    return until(({ places }) => places.get(thread)?.rank === placement.rank);
  }
  const id = folder as string;
  const params = { workspace_id, folder_id: id, parent_folder_id: to.folder, after_id: to.afterFolder };
  const { rank } = (await command("thread/folder/move", params)).folder;
  return until(({ folders }) => folders.get(id)?.rank === rank);
}

const PATIENCE_MS = 1_000;

/** The answer comes before what changed by it: whoever counts on the order has to wait for that. */
function until(shows: (tree: Tree) => boolean): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      stop();
      clearTimeout(timer);
      done();
    };
    const stop = useTree.subscribe((tree) => shows(tree) && end());
    const timer = setTimeout(end, PATIENCE_MS);
    if (shows(useTree.getState())) end();
  });
}

function movedWords(tree: Tree, things: Things, to: Spot): string {
  const homes = new Set([
    ...things.threads.map((id) => tree.places.get(id)?.folder_id),
    ...things.folders.map((id) => tree.folders.get(id)?.parent_folder_id),
  ]);
  const stays = homes.size === 1 && homes.has(to.folder);
  return stays ? `Moved ${named(things)}` : `Moved ${named(things)} to ${folderName(tree, to.folder)}`;
}

/** A folder's threads by rank alone: pins do not count for where something is put. */
export function threadsByRank(tree: Tree, folder: string | undefined): string[] {
  const rank = (id: string) => tree.places.get(id)?.rank ?? 0;
  return (tree.children.get(folder ?? ROOT)?.threads ?? []).toSorted((a, b) => rank(a) - rank(b));
}

function threadSpot(tree: Tree): (id: string) => Move {
  return (id) => {
    const folder = tree.places.get(id)?.folder_id;
    const siblings = threadsByRank(tree, folder);
    return { thread: id, to: { folder, afterThread: siblings[siblings.indexOf(id) - 1] ?? null } };
  };
}

function folderSpot(tree: Tree): (id: string) => Move {
  return (id) => {
    const parent = tree.folders.get(id)?.parent_folder_id;
    const siblings = tree.children.get(parent ?? ROOT)?.folders ?? [];
    return { folder: id, to: { folder: parent, afterFolder: siblings[siblings.indexOf(id) - 1] ?? null } };
  };
}

/** As they stand in their folders, so that each can be put back behind one that is back already. */
function inOrder(tree: Tree, things: Things): Things {
  const threadRank = (id: string) => tree.places.get(id)?.rank ?? 0;
  const folderRank = (id: string) => tree.folders.get(id)?.rank ?? 0;
  return {
    ...things,
    threads: things.threads.toSorted((a, b) => threadRank(a) - threadRank(b)),
    folders: things.folders.toSorted((a, b) => folderRank(a) - folderRank(b)),
  };
}
