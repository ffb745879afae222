import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { isKind } from "../../base/index.js";
import { mayHaveLinkedCheckouts } from "../git-head.js";
import type { ThreadEnvelope } from "../schemas.js";
import { isBelow } from "./is-below.js";
import { listWorktrees, type Worktree } from "./list.js";

export interface ThreadCopy {
  /** The project's directory or the worktree it was found in. */
  readonly place: string;
  readonly context: Pick<ThreadEnvelope["context"], "worktree">;
}

/**
 * The directories whose `.agent` may hold a project's threads, each once by its real path: the project's own first, then
 * git's worktrees, then the known ones that exist. The repository's main checkout is looked in only by projects in it.
 */
export async function threadPlaces(root: string, known: readonly string[]): Promise<string[]> {
  const main = await realpath(root);
  const [, ...linked] = await worktreesOf(main);
  const listed = await existing(linked.map(({ path }) => path));
  const [own] = listed.filter((path) => isBelow(path, main)).sort((a, b) => b.length - a.length);
  return [...new Set([main, ...listed.filter((path) => path !== own), ...(await existing(known))])];
}

/** Of several copies of one thread the one that counts: where it says it works, else the project's own, else the first. */
export async function ownerOf<Copy extends ThreadCopy>(
  copies: readonly Copy[],
  main: string,
): Promise<Copy | undefined> {
  const real = (path: string) => realpath(path).catch(() => resolve(path));
  for (const copy of copies) {
    const declared = copy.context.worktree?.path;
    if (declared !== undefined && (await real(declared)) === (await real(copy.place))) return copy;
  }
  const own = await real(main);
  for (const copy of copies) {
    if ((await real(copy.place)) === own) return copy;
  }
  return copies[0];
}

/**
 * Whether a thread found in a worktree is a project's: several projects may share a repository, and each is told by
 * its directory below the checkout's root.
 */
export function belongsTo(context: Pick<ThreadEnvelope["context"], "relativeDir">, relativeDir: string) {
  return plain(context.relativeDir ?? ".") === plain(relativeDir);
}

function plain(path: string): string {
  const parts = path.split(/[\\/]/).filter((part) => part !== "" && part !== ".");
  return parts.join("/") || ".";
}

/** Threads are found without git too, where they are known. Most repositories have one checkout: git is not started for those. */
async function worktreesOf(dir: string): Promise<Worktree[]> {
  if (!mayHaveLinkedCheckouts(dir)) return [];
  try {
    return await listWorktrees(dir);
  } catch (error) {
    if (isKind(error, "atsf.git_missing") || isKind(error, "atsf.git_failed")) return [];
    throw error;
  }
}

async function existing(paths: readonly string[]): Promise<string[]> {
  const real = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)));
  return real.filter((path) => path !== undefined);
}
