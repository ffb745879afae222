import { join } from "node:path";
import {
  belongsTo,
  isThreadId,
  ownerOf,
  readGitHead,
  type ThreadEnvelope,
  threadNames,
  threadPlaces,
} from "../../atsf/index.js";
import type { ThreadsDeps } from "../deps.js";
import { isDirectory, isOutOfSight } from "./thread-files.js";

export function threadsDirOf(root: string): string {
  return join(root, ".agent", "threads");
}

export interface FoundFiles {
  readonly places: readonly string[];
  readonly roots: ReadonlyMap<string, string>;
  /** By their places. */
  readonly unread: ReadonlyMap<string, Unread>;
}

/** A directory of threads that can't be read: any may stand there. */
export interface Unread {
  readonly file: string;
  readonly error: unknown;
}

/** Where the files of a workspace's threads are, by id: in its directory and in the worktrees of its repository. */
export async function findThreadFiles(
  deps: ThreadsDeps,
  main: string,
  known: ReadonlyMap<string, string>,
): Promise<FoundFiles> {
  const places = await threadPlaces(main, [...new Set(known.values())]);
  const { copies, unread } = await copiesIn(places);
  const relativeDir = readGitHead(main)?.relativeDir ?? ".";
  const roots = new Map<string, string>();
  for (const [id, all] of copies) {
    const [only] = all;
    const settled = all.length === 1 && (only === places[0] || known.get(id) === only);
    const root = settled ? only : await choose(deps, { id, all, main: places[0] ?? main, relativeDir });
    if (root !== undefined) roots.set(id, root);
  }
  return { places, roots, unread };
}

async function copiesIn(places: readonly string[]) {
  const listed = await Promise.all(places.map(async (root) => ({ root, ids: await idsIn(root) })));
  const copies = new Map<string, string[]>();
  const unread = new Map<string, Unread>();
  for (const { root, ids } of listed) {
    if (!Array.isArray(ids)) unread.set(root, ids);
    else for (const id of ids) copies.set(id, [...(copies.get(id) ?? []), root]);
  }
  return { copies, unread };
}

/**
 * Where the files stand that count, of a thread that was seen in a place. Undefined: what was seen there is another
 * project's. A copy somewhere else must not take a thread over, nor one that passes through a shared worktree.
 */
export async function rootThatCounts(
  deps: ThreadsDeps,
  { thread_id: id, main, seen, known }: { thread_id: string; main: string; seen: string; known?: string },
): Promise<string | undefined> {
  if (seen === known) return seen;
  if (known !== undefined && isOutOfSight(join(threadsDirOf(known), id))) return known;
  const other = known !== undefined && (await isDirectory(join(threadsDirOf(known), id)));
  if (!other && seen === main) return main;
  const relativeDir = readGitHead(main)?.relativeDir ?? ".";
  return choose(deps, { id, all: other ? [seen, known] : [seen], main, relativeDir });
}

/** Of several copies the one that counts. What stands in a worktree may belong to another project of the repository. */
async function choose(
  deps: ThreadsDeps,
  { id, all, main, relativeDir }: { id: string; all: string[]; main: string; relativeDir: string },
): Promise<string | undefined> {
  const read = await Promise.all(
    all.map(async (place) => ({ place, context: await contextOf(deps, place, id) })),
  );
  const ours = read.filter(
    ({ place, context }) => place === main || (context !== undefined && belongsTo(context, relativeDir)),
  );
  const usable = ours.map(({ place, context }) => ({ place, context: context ?? {} }));
  return (await ownerOf(usable, main))?.place;
}

async function contextOf(
  deps: ThreadsDeps,
  root: string,
  id: string,
): Promise<ThreadEnvelope["context"] | undefined> {
  try {
    const thread = await (await deps.files.project(root)).thread(id);
    return (await thread.envelope()).context;
  } catch {
    // What can't be read is told of when the thread itself is read.
    return undefined;
  }
}

async function idsIn(root: string): Promise<string[] | Unread> {
  const names = (await isDirectory(root)) ? await namesOrUnread(root) : [];
  return Array.isArray(names) ? names.filter((name) => isThreadId(name) && !name.startsWith(".")) : names;
}

export async function namesOrUnread(root: string): Promise<string[] | Unread> {
  return threadNames(root).catch((error) => ({ file: threadsDirOf(root), error }));
}
