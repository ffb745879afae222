import { readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  belongsTo,
  isThreadId,
  ownerOf,
  readGitHead,
  type ThreadEnvelope,
  threadPlaces,
} from "../../atsf/index.js";
import type { ThreadsDeps } from "../deps.js";
import { isDirectory } from "./thread-files.js";

export function threadsDirOf(root: string): string {
  return join(root, ".agent", "threads");
}

/** Where the files of a workspace's threads are, by id: in its directory and in the worktrees of its repository. */
export async function findThreadFiles(
  deps: ThreadsDeps,
  main: string,
  known: ReadonlyMap<string, string>,
): Promise<{ places: string[]; roots: Map<string, string> }> {
  const places = await threadPlaces(main, [...new Set(known.values())]);
  const listed = await Promise.all(places.map(async (root) => ({ root, ids: await idsIn(root) })));
  const copies = new Map<string, string[]>();
  for (const { root, ids } of listed) {
    for (const id of ids) copies.set(id, [...(copies.get(id) ?? []), root]);
  }
  const relativeDir = readGitHead(main)?.relativeDir ?? ".";
  const roots = new Map<string, string>();
  for (const [id, all] of copies) {
    const [only] = all;
    const settled = all.length === 1 && (only === places[0] || known.get(id) === only);
    const root = settled ? only : await choose(deps, { id, all, main: places[0] ?? main, relativeDir });
    if (root !== undefined) roots.set(id, root);
  }
  return { places, roots };
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

async function idsIn(root: string): Promise<string[]> {
  const names = await readdir(threadsDirOf(root)).catch(() => []);
  return names.filter((name) => isThreadId(name) && !name.startsWith("."));
}
