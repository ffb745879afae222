import { useEffect, useState } from "react";
import { create } from "zustand";
import type { AgentsDocSummary, Folder, Thread } from "../../src/protocol/index.js";
import { isRefused } from "./errors.js";
import { call, client, isUnanswered } from "./gateway.js";
import { changed, ROOT, type Tree, whole } from "./tree-maps.js";

export { ROOT, type Tree } from "./tree-maps.js";

const EMPTY: Tree = {
  ws: undefined,
  state: "loading",
  cut: false,
  threads: new Map(),
  folders: new Map(),
  places: new Map(),
  docs: new Map(),
  children: new Map(),
};

export const useTree = create<Tree>()(() => EMPTY);

/** Counts the loads: the answer to an older one must not replace a newer. */
let load = 0;

export async function openTree(ws: string): Promise<void> {
  const mine = ++load;
  if (useTree.getState().ws !== ws) useTree.setState({ ...EMPTY, ws }, true);
  try {
    const tree = await call("thread/tree", { workspace_id: ws });
    if (mine === load) useTree.setState(whole(tree), true);
  } catch (error) {
    if (mine === load) notRead(ws, error);
  }
}

/** What is shown stays where nobody answered: that says nothing about it. It is asked again over the next connection. */
function notRead(ws: string, error: unknown): void {
  const unanswered = isUnanswered(error);
  if (!unanswered || useTree.getState().state !== "ready") useTree.setState({ state: "failed", error });
  if (unanswered) void openTree(ws);
}

client.on("thread/tree/changed", ({ workspace_id, changes }) => {
  const tree = useTree.getState();
  if (workspace_id !== tree.ws || tree.state !== "ready") return;
  if (changes) useTree.setState(changed(tree, changes));
  else void openTree(workspace_id);
});
client.on("thread/changed", ({ thread }) => {
  const tree = useTree.getState();
  if (thread.workspace_id !== tree.ws || tree.state !== "ready") return;
  // A thread that is not known yet comes with its placement, as a change of the tree.
  if (tree.threads.has(thread.id)) useTree.setState(changed(tree, { threads: [thread] }));
});
client.onResync((ws) => {
  if (ws === useTree.getState().ws) void openTree(ws);
});
// What was refused may be granted by a gateway that was started again.
client.onState((link) => {
  const { ws, state, error } = useTree.getState();
  if (link === "open" && ws !== undefined && state === "failed" && isRefused(error)) void openTree(ws);
});

export function useThread(id: string | undefined): Thread | undefined {
  return useTree((tree) => (id === undefined ? undefined : tree.threads.get(id)));
}

/** A thread that a tree which is cut leaves out is brought into it, behind those of its folder that are there. */
export async function lookUp(ws: string, thread_id: string): Promise<boolean> {
  try {
    const { thread } = await call("thread/get", { workspace_id: ws, thread_id });
    const { folder_id } = thread;
    const place = {
      thread_id,
      workspace_id: ws,
      rank: Number.MAX_SAFE_INTEGER,
      ...(folder_id && { folder_id }),
    };
    const tree = useTree.getState();
    if (tree.ws === ws && !tree.threads.has(thread_id))
      useTree.setState(changed(tree, { threads: [thread], placements: [place] }));
    return true;
  } catch (error) {
    return isUnanswered(error) ? lookUp(ws, thread_id) : false;
  }
}

/** What is known of a thread that is not in the tree: nothing where it is there, or the tree itself is not. */
export function useMissing(id: string): "looked for" | "gone" | undefined {
  const ws = useTree((tree) => tree.ws);
  const missing = useTree((tree) => tree.state === "ready" && !tree.threads.has(id));
  const cut = useTree((tree) => tree.cut);
  const [gone, setGone] = useState<string>();
  useEffect(() => {
    if (!missing || !cut || ws === undefined) return;
    let current = true;
    void lookUp(ws, id).then((found) => current && !found && setGone(id));
    return () => {
      current = false;
    };
  }, [missing, cut, ws, id]);
  if (!missing) return undefined;
  return cut && gone !== id ? "looked for" : "gone";
}

export function useFolder(id: string | undefined): Folder | undefined {
  return useTree((tree) => (id === undefined ? undefined : tree.folders.get(id)));
}

/** The folders from the root down to this one. */
export function folderPath(tree: Tree, id: string | undefined): Folder[] {
  const path: Folder[] = [];
  for (let at = id; at !== undefined && path.length < 1_000; ) {
    const folder = tree.folders.get(at);
    if (!folder) break;
    path.unshift(folder);
    at = folder.parent_folder_id;
  }
  return path;
}

/** `Backend/Payments`, or an empty text for the root. */
export function pathText(tree: Tree, id: string | undefined): string {
  return folderPath(tree, id)
    .map(({ name }) => name)
    .join("/");
}

/** The document in effect in a folder: the nearest one that has text. `folder` is where it stands, `ROOT` for the root. */
export function docInEffect(tree: Tree, id: string | undefined): AgentsDocSummary | undefined {
  const path = folderPath(tree, id);
  for (const key of [...path.map((folder) => folder.id).reverse(), ROOT]) {
    const doc = tree.docs.get(key);
    if (doc?.status === "active") return doc;
  }
  return undefined;
}

/** `Backend/AGENTS.md`, or `AGENTS.md` at the root. */
export function docName(tree: Tree, folder_id: string | undefined): string {
  const path = pathText(tree, folder_id);
  return path === "" ? "AGENTS.md" : `${path}/AGENTS.md`;
}
