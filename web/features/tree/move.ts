import { call } from "../../state/gateway.js";
import { toastProblem, toastUndo } from "../../state/toasts.js";
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

/** Moves rows, in their order, and offers to put them back. */
export async function moveRows(keys: readonly string[], to: Spot): Promise<void> {
  const tree = useTree.getState();
  const things = inOrder(tree, topmost(tree, thingsOf(keys)));
  const before = [...things.folders.map(folderSpot(tree)), ...things.threads.map(threadSpot(tree))];
  const ends = tree.ws === undefined || before.length === 0;
  if (ends || whyNot(tree, things, to.folder) !== undefined) return;
  const ws = tree.ws as string;
  const words = movedWords(tree, things, to);
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
  if (moved.length > 0) toastUndo(words, () => putBack(ws, moved));
}

async function putBack(ws: string, moved: readonly Move[]): Promise<void> {
  for (const move of moved) await put(ws, move);
}

interface Move {
  readonly thread?: string;
  readonly folder?: string;
  readonly to: Spot;
}

function put(workspace_id: string, { thread, folder, to }: Move): Promise<unknown> {
  if (thread !== undefined) {
    const after_id = to.afterThread;
    return call("thread/move", { workspace_id, thread_id: thread, folder_id: to.folder, after_id });
  }
  return call("thread/folder/move", {
    workspace_id,
    folder_id: folder as string,
    parent_folder_id: to.folder,
    after_id: to.afterFolder,
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
