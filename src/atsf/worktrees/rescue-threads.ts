import { mkdir, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { assertInside } from "../confined.js";
import { copyDirectory } from "../copy-directory.js";
import { atsfError } from "../errors.js";
import { isMissing, isThere, readIfThere } from "../files.js";
import { ensureGitignore, hideFromGit, isOwnGitignore } from "../gitignore.js";
import { isThreadId, LOG, threadsDir } from "../layout.js";
import { type OnWaiting, ThreadLocks } from "../lock.js";
import { LARGEST_JSON, readRegular } from "../regular-file.js";

export interface ThreadsToRescue {
  readonly worktree: string;
  readonly project: string;
  /** Also when the project has another version of a thread. */
  readonly force: boolean;
  readonly onWaiting?: OnWaiting | undefined;
}

/**
 * Copies a worktree's threads into the project, durably, then runs the work that does away with the worktree. Nobody
 * can write to the threads meanwhile: a message appended after the copy would be lost with the worktree.
 */
export async function rescueThreads(
  given: ThreadsToRescue,
  work: () => Promise<void>,
): Promise<readonly string[]> {
  const ids = await threadIds(given.worktree);
  const locks = new ThreadLocks(given.onWaiting);
  const copied: string[] = [];
  const each = async (index: number): Promise<void> => {
    const id = ids[index];
    if (id === undefined) return work();
    const dir = join(threadsDir(given.worktree), id);
    await locks.run(dir, async () => {
      if (await rescue(given, id)) copied.push(id);
      await each(index + 1);
    });
  };
  try {
    await each(0);
  } finally {
    locks.close();
  }
  return copied;
}

/** The thread that a path of a worktree belongs to and that is rescued with it; undefined for what is not. */
export function rescuedThread(path: string): string | undefined {
  const [, id = ""] = /^\.agent\/threads\/([^/]+)\/./.exec(path) ?? [];
  return isRescued(id) ? id : undefined;
}

function isRescued(name: string): boolean {
  return isThreadId(name) && !name.startsWith(".");
}

async function threadIds(worktree: string): Promise<string[]> {
  await assertInside(worktree, threadsDir(worktree));
  try {
    const entries = await readdir(threadsDir(worktree), { withFileTypes: true });
    return entries.filter((entry) => entry.isDirectory() && isRescued(entry.name)).map(({ name }) => name);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function rescue({ worktree, project, force }: ThreadsToRescue, id: string): Promise<boolean> {
  const from = join(threadsDir(worktree), id);
  const to = join(threadsDir(project), id);
  if (await isThere(to)) {
    if (!force && !(await holdsLogOf(to, from))) throw differs(worktree, id);
    return false;
  }
  await mkdir(threadsDir(project), { recursive: true });
  await assertInside(project, threadsDir(project));
  await ensureGitignore(project);
  await copyDirectory(from, to, { leaveOut: isForWorktree, finish: hideFromGit });
  return true;
}

/** A log only grows, so one that begins with the other's bytes has every message of it. */
async function holdsLogOf(dir: string, other: string): Promise<boolean> {
  const [ours, theirs] = await Promise.all([readLog(dir), readLog(other)]);
  return ours.subarray(0, theirs.length).equals(theirs);
}

async function readLog(dir: string): Promise<Buffer> {
  return (await readIfThere(join(dir, LOG))) ?? Buffer.alloc(0);
}

/** What git may see is another thing in the project: an ignore file that was written for the worktree stays there. */
function isForWorktree(path: string): boolean {
  return basename(path) === ".gitignore" && isOwnGitignore(readRegularText(path));
}

function readRegularText(path: string): string {
  return readRegular(path, { largest: LARGEST_JSON })?.toString("utf8") ?? "";
}

function differs(path: string, thread_id: string) {
  return atsfError(
    { kind: "atsf.worktree_thread_differs", path, thread_id },
    `The project has a thread ${thread_id} that lacks messages of the one in ${path}. Move one of them away, or force the removal and lose the worktree's.`,
  );
}
