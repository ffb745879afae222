import type {
  AgentsDocSummary,
  Folder,
  NotificationParams,
  Placement,
  Result,
  Thread,
} from "../../src/protocol/index.js";

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
  /** There are more threads than these: the others are asked for by name or id. */
  readonly cut: boolean;
  readonly threads: ReadonlyMap<string, Thread>;
  readonly folders: ReadonlyMap<string, Folder>;
  readonly places: ReadonlyMap<string, Placement>;
  /** By folder id, `ROOT` for the root's. Archived ones are not here. */
  readonly docs: ReadonlyMap<string, AgentsDocSummary>;
  /** By folder id, `ROOT` for the root. */
  readonly children: ReadonlyMap<string, Children>;
}

export function whole(tree: Result<"thread/tree">): Tree {
  const { threads, folders, placements, agents_docs } = tree;
  const next = {
    threads: new Map(threads.map((thread) => [thread.id, thread])),
    folders: new Map(folders.map((folder) => [folder.id, folder])),
    places: new Map(placements.map((place) => [place.thread_id, place])),
    docs: new Map(agents_docs.map((doc) => [doc.folder_id ?? ROOT, doc])),
  };
  const cut = tree.truncated === true;
  return { ws: tree.workspace_id, state: "ready", cut, ...next, children: childrenOf(next) };
}

type Changes = NonNullable<NotificationParams<"thread/tree/changed">["changes"]>;

/** The tree after a change. A map that nothing changed in stays the same one: who looks at it has nothing to do. */
export function changed(tree: Tree, changes: Changes): Partial<Tree> {
  const gone = changes.removed_ids ?? [];
  const next = {
    threads: altered(tree.threads, gone, changes.threads, ({ id }) => id),
    folders: altered(tree.folders, gone, changes.folders, ({ id }) => id),
    places: altered(tree.places, gone, changes.placements, ({ thread_id }) => thread_id),
    docs: changedDocs(tree, changes),
  };
  return { ...next, ...(moves(tree, changes) && { children: childrenOf(next) }) };
}

function altered<T>(
  map: ReadonlyMap<string, T>,
  gone: readonly string[],
  come: readonly T[] = [],
  keyOf: (each: T) => string,
): ReadonlyMap<string, T> {
  if (come.length === 0 && !gone.some((id) => map.has(id))) return map;
  const next = new Map(map);
  for (const id of gone) next.delete(id);
  for (const each of come) next.set(keyOf(each), each);
  return next;
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
