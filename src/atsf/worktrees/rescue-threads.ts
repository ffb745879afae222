import { mkdir, readdir, realpath } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { assertInside } from "../confined.js";
import { copyDirectory } from "../copy-directory.js";
import { readEnvelope } from "../envelope.js";
import { atsfError } from "../errors.js";
import { isMissing, isThere, readIfThere } from "../files.js";
import { ensureGitignore, hideFromGit, isOwnGitignore } from "../gitignore.js";
import { isThreadId, LOG, threadDir, threadsDir } from "../layout.js";
import { type OnWaiting, ThreadLocks } from "../lock.js";
import { LARGEST_JSON, readRegular } from "../regular-file.js";
import type { ThreadEnvelope } from "../schemas.js";

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
      if (await rescueOne(given, id, locks)) copied.push(id);
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

async function rescueOne(given: ThreadsToRescue, id: string, locks: ThreadLocks): Promise<boolean> {
  const to = join(threadsDir(given.project), id);
  if (!(await isThere(to))) return copyOver(given, id, { replace: false });
  // Nobody may write to what is replaced.
  return locks.run(to, async () => {
    const there = await compare(given, id);
    if (there === "different" && !given.force) throw differs(given.worktree, id);
    return there === "older" && copyOver(given, id, { replace: true });
  });
}

async function copyOver(
  { worktree, project }: ThreadsToRescue,
  id: string,
  { replace }: { readonly replace: boolean },
): Promise<true> {
  await mkdir(threadsDir(project), { recursive: true });
  await assertInside(project, threadsDir(project));
  await ensureGitignore(project);
  const [from, to] = [join(threadsDir(worktree), id), join(threadsDir(project), id)];
  await copyDirectory(from, to, { replace, leaveOut: isForWorktree, finish: hideFromGit });
  return true;
}

/**
 * What the project's copy of a thread is beside the worktree's. A log only grows, so one that begins with the other's bytes has
 * every message of it. Of two with the same messages the one counts that the thread works in: the other was left by a removal that
 * was broken off, or came with a checkout.
 */
async function compare(
  { worktree, project }: ThreadsToRescue,
  id: string,
): Promise<"complete" | "older" | "different"> {
  const ours = await readThread(threadDir(project, id));
  const theirs = await readThread(threadDir(worktree, id));
  const begins = ({ log }: Read, other: Read) => log.subarray(0, other.log.length).equals(other.log);
  if (begins(ours, theirs) && ours.log.length > theirs.log.length) return "complete";
  // Another thread of the same name is no older version of this one.
  const isCopy = ours.envelope !== undefined && ours.envelope.createdAt === theirs.envelope?.createdAt;
  if (ours.log.equals(theirs.log)) return isCopy && (await worksIn(theirs, worktree)) ? "older" : "complete";
  return isCopy && begins(theirs, ours) ? "older" : "different";
}

interface Read {
  readonly log: Buffer;
  /** Undefined where it can't be read: git may have been at work on it. */
  readonly envelope: ThreadEnvelope | undefined;
}

async function readThread(dir: string): Promise<Read> {
  const envelope = await readEnvelope(dir).then(
    (read) => read.envelope,
    () => undefined,
  );
  return { log: await readLog(dir), envelope };
}

async function worksIn({ envelope }: Read, worktree: string): Promise<boolean> {
  const path = envelope?.context.worktree?.path;
  const real = (place: string) => realpath(place).catch(() => resolve(place));
  return path !== undefined && (await real(path)) === (await real(worktree));
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
