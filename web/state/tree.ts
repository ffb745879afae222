import { create } from "zustand";
import type {
  AgentsDocSummary,
  Folder,
  NotificationParams,
  Placement,
  Result,
  Thread,
} from "../../src/protocol/index.js";
import { call, client } from "./gateway.js";

/** The key of the root among folder ids. */
export const ROOT = "";

/** What stands in a folder, in display order. */
export interface Children {
  readonly folders: readonly string[];
  readonly threads: readonly string[];
}

/**
 * The tree of the workspace that is open. The maps are replaced as a whole when something in them changes, and a thread or
 * folder only when it changed itself: a row looks at its own and draws nothing when another one changes.
 */
export interface Tree {
  readonly ws: string | undefined;
  readonly state: "loading" | "ready" | "failed";
  readonly error?: unknown;
  readonly threads: ReadonlyMap<string, Thread>;
  readonly folders: ReadonlyMap<string, Folder>;
  readonly places: ReadonlyMap<string, Placement>;
  /** By folder id, `ROOT` for the root's. Archived ones are not here. */
  readonly docs: ReadonlyMap<string, AgentsDocSummary>;
  /** By folder id, `ROOT` for the root. */
  readonly children: ReadonlyMap<string, Children>;
}

const EMPTY: Tree = {
  ws: undefined,
  state: "loading",
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
    if (mine === load) useTree.setState({ state: "failed", error });
  }
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

function whole(tree: Result<"thread/tree">): Tree {
  const { threads, folders, placements, agents_docs } = tree;
  const next = {
    threads: new Map(threads.map((thread) => [thread.id, thread])),
    folders: new Map(folders.map((folder) => [folder.id, folder])),
    places: new Map(placements.map((place) => [place.thread_id, place])),
    docs: new Map(agents_docs.map((doc) => [doc.folder_id ?? ROOT, doc])),
  };
  return { ws: tree.workspace_id, state: "ready", ...next, children: childrenOf(next) };
}

type Changes = NonNullable<NotificationParams<"thread/tree/changed">["changes"]>;

function changed(tree: Tree, changes: Changes): Partial<Tree> {
  const threads = new Map(tree.threads);
  const folders = new Map(tree.folders);
  const places = new Map(tree.places);
  for (const id of changes.removed_ids ?? []) {
    for (const map of [threads, folders, places]) map.delete(id);
  }
  for (const thread of changes.threads ?? []) threads.set(thread.id, thread);
  for (const folder of changes.folders ?? []) folders.set(folder.id, folder);
  for (const place of changes.placements ?? []) places.set(place.thread_id, place);
  const next = { threads, folders, places, docs: changedDocs(tree, changes) };
  return { ...next, ...(moves(tree, changes) && { children: childrenOf(next) }) };
}

function changedDocs(tree: Tree, { removed_ids = [], agents_docs = [] }: Changes): Tree["docs"] {
  if (removed_ids.length === 0 && agents_docs.length === 0) return tree.docs;
  const gone = new Set(removed_ids);
  const docs = new Map([...tree.docs].filter(([key, doc]) => !gone.has(doc.id) && !gone.has(key)));
  for (const doc of agents_docs) {
    if (doc.status === "archived") docs.delete(doc.folder_id ?? ROOT);
    else docs.set(doc.folder_id ?? ROOT, doc);
  }
  return docs;
}

/** Whether a change can alter what stands where. Most only alter a thread's own fields, many times a second. */
function moves(tree: Tree, { folders, placements, removed_ids, threads }: Changes): boolean {
  if (folders?.length || placements?.length || removed_ids?.length) return true;
  return (threads ?? []).some((thread) => {
    const known = tree.threads.get(thread.id);
    return !known || known.pinned_at !== thread.pinned_at || known.folder_id !== thread.folder_id;
  });
}

type Parts = Pick<Tree, "threads" | "folders" | "places">;

/** Folders by their rank; threads pinned first, the latest pinned on top, then by theirs. */
function childrenOf({ threads, folders, places }: Parts): Map<string, Children> {
  const children = new Map<string, { folders: string[]; threads: string[] }>();
  const at = (key: string) => {
    const known = children.get(key) ?? { folders: [], threads: [] };
    children.set(key, known);
    return known;
  };
  for (const folder of folders.values()) at(folder.parent_folder_id ?? ROOT).folders.push(folder.id);
  for (const thread of threads.values()) at(places.get(thread.id)?.folder_id ?? ROOT).threads.push(thread.id);
  const pinned = (id: string) => threads.get(id)?.pinned_at ?? 0;
  const rank = (id: string) => places.get(id)?.rank ?? 0;
  for (const each of children.values()) {
    each.folders.sort((a, b) => (folders.get(a)?.rank ?? 0) - (folders.get(b)?.rank ?? 0));
    each.threads.sort((a, b) => pinned(b) - pinned(a) || rank(a) - rank(b));
  }
  return children;
}

export function useThread(id: string | undefined): Thread | undefined {
  return useTree((tree) => (id === undefined ? undefined : tree.threads.get(id)));
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
