import { lstat, readdir, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { isKind } from "../../base/index.js";
import { atsfError } from "../errors.js";
import { agentDir, ENVELOPE, threadsDir } from "../layout.js";
import type { Project } from "../project.js";
import { Drafts, type ImportedThread, type Rewrite } from "./drafts.js";
import { isPassing } from "./leftovers.js";
import { threadFiles } from "./thread-files.js";

/**
 * Copies threads into a project: those of another project, those of a directory of threads, or the one whose directory this
 * is. The originals stay untouched, links are not followed, and each thread's log ends with its last complete line.
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

async function threadDirectories(from: string): Promise<string[]> {
  const real = await realpath(from).catch(() => from);
  if (!(await is(real, "directory"))) {
    throw atsfError({ kind: "atsf.not_a_directory", dir: from }, `${from} is not a directory.`);
  }
  const isProject = (await is(agentDir(real), "directory")) && (await is(threadsDir(real), "directory"));
  if (!isProject && (await is(join(real, ENVELOPE), "file"))) return [real];
  const parent = isProject ? threadsDir(real) : real;
  const entries = await readdir(parent, { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .map(({ name }) => join(parent, name))
    .sort();
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

/** What stands there itself, not what a link there leads to. */
async function is(path: string, what: "directory" | "file"): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return (what === "directory" ? found?.isDirectory() : found?.isFile()) ?? false;
}
