import { realpath, stat, symlink } from "node:fs/promises";
import { basename, dirname, join, posix, win32 } from "node:path";
import { isInside } from "../confined.js";
import { isMissing, isThere } from "../files.js";
import { makeDirectories } from "./make-directories.js";

export interface SymlinkToMake {
  readonly source: string;
  readonly target?: string | undefined;
  readonly repository: string;
  readonly worktree: string;
  readonly platform: NodeJS.Platform;
}

export interface SymlinkEnd {
  readonly status: "done" | "skipped" | "failed";
  readonly reason?: string;
}

/**
 * Links a path of the repository into the worktree. The names come from a repository's file, so neither may lead
 * out of its root; what stands at the target already belongs to the user and stays as it is.
 */
export async function makeSymlink({
  source,
  target = source,
  repository,
  worktree,
  platform,
}: SymlinkToMake): Promise<SymlinkEnd> {
  try {
    for (const path of [source, target]) {
      if (leadsOut(path)) return failed(`${JSON.stringify(path)} is not a path below its root`);
    }
    const from = await existingSource(repository, source);
    if (from === "leads out") return failed(`${source} leads out of the repository`);
    if (from === undefined) return failed(`${source} does not exist in the repository`);
    const parent = await makeDirectories(worktree, dirname(target));
    if (parent === undefined) return failed(`${target} leads out of the worktree`);
    const to = join(parent, basename(target));
    if (await isThere(to)) return alreadyThere(target);
    await symlink(from, to, linkType((await stat(from)).isDirectory(), platform));
    return { status: "done" };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return alreadyThere(target);
    return failed((error as Error).message);
  }
}

/** Any `..` is refused, one that would come back too: after a link it means something else. */
export function leadsOut(path: string): boolean {
  const parts = path.split(/[\\/]/).filter((part) => part !== "" && part !== ".");
  return posix.isAbsolute(path) || win32.isAbsolute(path) || parts.length === 0 || parts.includes("..");
}

/** Only the way to the source must stay inside; the source itself may be a link of the user's to anywhere. */
async function existingSource(repository: string, source: string): Promise<string | "leads out" | undefined> {
  const path = join(repository, source);
  try {
    if (!(await isInside(repository, dirname(path)))) return "leads out";
    await stat(path);
    return join(await realpath(dirname(path)), basename(path));
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Windows lets anyone make a junction, but a link to a directory only an administrator. */
export function linkType(isDirectory: boolean, platform: NodeJS.Platform): "junction" | "file" | "dir" {
  if (!isDirectory) return "file";
  return platform === "win32" ? "junction" : "dir";
}

const failed = (reason: string): SymlinkEnd => ({ status: "failed", reason });
const alreadyThere = (target: string): SymlinkEnd => ({
  status: "skipped",
  reason: `${target} is there already`,
});
