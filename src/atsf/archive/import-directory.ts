import { basename } from "node:path";
import { isKind } from "../../base/index.js";
import type { Project } from "../project.js";
import { Drafts, type ImportedThread, type Rewrite } from "./drafts.js";
import { isPassing } from "./leftovers.js";
import { threadDirectories } from "./thread-directories.js";
import { threadFiles } from "./thread-files.js";

/**
 * Copies threads into a project: those of another project and of its worktrees, those of a directory of threads, or the one
 * whose directory this is. The originals stay untouched, links are not followed, and each thread's log ends with its last
 * complete line.
 */
export async function importDirectory(
  from: string,
  into: Project,
  { rewrite }: { readonly rewrite?: Rewrite } = {},
): Promise<ImportedThread[]> {
  const drafts = new Drafts(into);
  try {
    for (const dir of await threadDirectories(from)) await copy(drafts, dir);
    return await drafts.settle(rewrite);
  } finally {
    await drafts.close();
  }
}

async function copy(drafts: Drafts, dir: string): Promise<void> {
  const threadId = basename(dir);
  if (!(await drafts.wants(threadId))) return;
  try {
    for await (const { path, body } of threadFiles(dir, isPassing)) await drafts.write(threadId, path, body);
  } catch (error) {
    if (!isKind(error, "atsf.invalid_file") && !isKind(error, "atsf.not_readable")) throw error;
    await drafts.refuse(threadId, error.message);
  }
}
