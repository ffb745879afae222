import type { Agent, Thread } from "../../../src/protocol/index.js";
import { type Children, ROOT, type Tree } from "../../state/tree-maps.js";

interface Place {
  /** Names the row as long as it is there: `t:` thread, `f:` folder, `d:` document of a folder, `a:` agent. */
  readonly key: string;
  readonly id: string;
  /** From 0. */
  readonly depth: number;
  /** The key of the row it stands below. */
  readonly parent: string | undefined;
  readonly posInSet: number;
  readonly setSize: number;
}

/** A row of the tree. It says what stands where; what it shows it reads itself. */
export type Row = Place &
  (
    | { readonly kind: "thread" | "doc" }
    | {
        readonly kind: "folder" | "agent";
        readonly open: boolean;
        /** How many threads it holds, at any depth. */
        readonly held: number;
        /** Whether it holds nothing at all. */
        readonly empty: boolean;
      }
  );

export interface Rows {
  readonly list: readonly Row[];
  readonly at: ReadonlyMap<string, number>;
}

export const threadKey = (id: string) => `t:${id}`;
export const folderKey = (id: string) => `f:${id}`;
export const docKey = (folder: string) => `d:${folder}`;
export const agentKey = (id: string) => `a:${id}`;

export function indexed(list: readonly Row[]): Rows {
  return { list, at: new Map(list.map((row, index) => [row.key, index])) };
}

export interface RowsGiven {
  readonly children: Tree["children"];
  readonly docs: Tree["docs"];
  /** Ids of the folders that are open. */
  readonly open: ReadonlySet<string>;
  /** The folder whose AGENTS.md is being edited, `ROOT` for the root. It has a row before it has a file. */
  readonly editing: string | undefined;
  /** Which threads and folders a filter leaves; undefined: there is none. */
  readonly kept?: Kept | undefined;
}

interface Kept {
  readonly threads: ReadonlySet<string>;
  readonly folders: ReadonlySet<string>;
}

const NOTHING: Children = { folders: [], threads: [] };

/** The rows from top to bottom: in each folder its document, its folders, its threads. */
export function rowsByFolder(given: RowsGiven): Row[] {
  const rows: Row[] = [];
  const held = heldBy(given.children);
  const walk = (folder: string, depth: number, parent: string | undefined) => {
    const inside = childrenIn(given, folder);
    const setSize = inside.folders.length + inside.threads.length + (inside.doc ? 1 : 0);
    let posInSet = 0;
    const place = (key: string, id: string): Place => ({
      key,
      id,
      depth,
      parent,
      posInSet: ++posInSet,
      setSize,
    });
    if (inside.doc) rows.push({ kind: "doc", ...place(docKey(folder), folder) });
    for (const id of inside.folders) {
      const key = folderKey(id);
      const open = given.kept !== undefined || given.open.has(id);
      const count = held.get(id) ?? 0;
      rows.push({ kind: "folder", ...place(key, id), open, held: count, empty: isEmpty(given, id) });
      if (open) walk(id, depth + 1, key);
    }
    for (const id of inside.threads) rows.push({ kind: "thread", ...place(threadKey(id), id) });
  };
  walk(ROOT, 0, undefined);
  return rows;
}

function childrenIn({ children, docs, editing, kept }: RowsGiven, folder: string) {
  const { folders, threads } = children.get(folder) ?? NOTHING;
  if (!kept) return { folders, threads, doc: docs.has(folder) || editing === folder };
  return {
    folders: folders.filter((id) => kept.folders.has(id)),
    threads: threads.filter((id) => kept.threads.has(id)),
    doc: false,
  };
}

function isEmpty({ children, docs, editing }: RowsGiven, folder: string): boolean {
  const { folders, threads } = children.get(folder) ?? NOTHING;
  return folders.length + threads.length === 0 && !docs.has(folder) && editing !== folder;
}

const counted = new WeakMap<Tree["children"], ReadonlyMap<string, number>>();

/** How many threads each folder holds, with those of the folders in it. */
export function heldBy(children: Tree["children"]): ReadonlyMap<string, number> {
  const known = counted.get(children);
  if (known) return known;
  const held = new Map<string, number>();
  const count = (folder: string): number => {
    const { folders, threads } = children.get(folder) ?? NOTHING;
    const sum = folders.reduce((all, id) => all + count(id), threads.length);
    held.set(folder, sum);
    return sum;
  };
  count(ROOT);
  counted.set(children, held);
  return held;
}

/** What has every word of a filter in its name, and the folders that lead there. */
export function keptBy(filter: string, { children, threads, folders }: Tree): Kept {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (name = "") => {
    const text = name.toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const kept = { threads: new Set<string>(), folders: new Set<string>() };
  const look = (folder: string): boolean => {
    const inside = children.get(folder) ?? NOTHING;
    let any = false;
    for (const id of inside.folders) {
      const below = look(id);
      if (!below && !matches(folders.get(id)?.name)) continue;
      kept.folders.add(id);
      any = true;
    }
    for (const id of inside.threads) {
      if (!matches(threads.get(id)?.title)) continue;
      kept.threads.add(id);
      any = true;
    }
    return any;
  };
  look(ROOT);
  return kept;
}

export interface GroupsGiven {
  readonly children: Tree["children"];
  readonly threads: Tree["threads"];
  readonly agents: readonly Agent[];
  readonly closed: ReadonlySet<string>;
  readonly kept?: Kept | undefined;
}

/** The threads below the agents they are with: agents in their order, threads pinned first, then in that of the tree. */
export function rowsByAgent({ children, threads, agents, closed, kept }: GroupsGiven): Row[] {
  const groups = new Map<string, string[]>(agents.map(({ agent_id }) => [agent_id, []]));
  for (const id of threadsInOrder(children)) {
    const thread = threads.get(id);
    if (!thread || (kept && !kept.threads.has(id))) continue;
    const group = groups.get(thread.agent_id) ?? [];
    groups.set(thread.agent_id, group);
    group.push(id);
  }
  const shown = [...groups].filter(([, ids]) => ids.length > 0);
  const rows: Row[] = [];
  for (const [at, [agent, ids]] of shown.entries()) {
    const key = agentKey(agent);
    const open = kept !== undefined || !closed.has(agent);
    const place = { key, id: agent, depth: 0, parent: undefined, posInSet: at + 1, setSize: shown.length };
    rows.push({ kind: "agent", ...place, open, held: ids.length, empty: false });
    if (open) rows.push(...threadsBelow(key, pinnedFirst(ids, threads)));
  }
  return rows;
}

function threadsBelow(parent: string, ids: readonly string[]): Row[] {
  return ids.map((id, at) => ({
    kind: "thread",
    key: threadKey(id),
    id,
    depth: 1,
    parent,
    posInSet: at + 1,
    setSize: ids.length,
  }));
}

function pinnedFirst(ids: readonly string[], threads: ReadonlyMap<string, Thread>): string[] {
  const pinned = (id: string) => threads.get(id)?.pinned_at ?? 0;
  return ids.toSorted((a, b) => pinned(b) - pinned(a));
}

/** Every thread, as one meets them from top to bottom with all folders open. */
export function threadsInOrder(children: Tree["children"], from = ROOT): string[] {
  const { folders, threads } = children.get(from) ?? NOTHING;
  return [...folders.flatMap((id) => threadsInOrder(children, id)), ...threads];
}
