import { mkdir, realpath, rm, rmdir, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { isKind } from "../../base/index.js";
import { assertInside } from "../confined.js";
import { writing } from "../disk.js";
import { atsfError } from "../errors.js";
import { isMissing, syncDirectory } from "../files.js";
import { IGNORE_ALL } from "../gitignore.js";
import { agentDir, gitignoreFile, threadDir } from "../layout.js";
import { makeDirectories } from "../worktree-hooks/make-directories.js";
import { type Checkout, describeCheckout } from "./checkout.js";
import { git, gitDone, gitFailed } from "./git.js";

export interface WorktreeToCreate {
  /** The project's directory: a checkout's root, or a directory below it. */
  readonly project: string;
  /** Where the worktree's own directory is made. */
  readonly directory: string;
  readonly threadId: string;
}

export interface CreatedWorktree {
  readonly path: string;
  readonly branch: string;
  readonly commit: string;
  /** What the project is of its own checkout, in the new one. */
  readonly workingDir: string;
}

/** Branches that are made here, and so may be taken away again, begin with this. */
export const BRANCH_PREFIX = "am-";

const MOST_SUFFIXES = 100;

/** Makes a worktree with a branch of its own for a thread. If it can't be made whole, nothing of it is left. */
export function createWorktree(given: WorktreeToCreate): Promise<CreatedWorktree> {
  return writing(given.directory, () => create(given));
}

async function create({ project, directory, threadId }: WorktreeToCreate): Promise<CreatedWorktree> {
  const short = shortName(project, threadId);
  const checkout = await requireCommit(project);
  const made = await mkdir(directory, { recursive: true });
  try {
    for (let number = 1; number <= MOST_SUFFIXES; number++) {
      const name = number === 1 ? short : `${short}-${number}`;
      const created = await attempt(checkout, await realpath(directory), name);
      if (created) return created;
    }
    throw gitFailed(["worktree", "add"], `every name like ${BRANCH_PREFIX}${short} is taken.`);
  } catch (error) {
    if (made !== undefined) await removeEmpty(resolve(directory), dirname(resolve(made)));
    throw error;
  }
}

/** The end of the id, without what can't stand in a branch's name. */
export function shortName(project: string, threadId: string): string {
  return basename(threadDir(project, threadId))
    .slice(-8)
    .toLowerCase()
    .replace(/[^a-z0-9_-]/g, "-");
}

async function requireCommit(project: string): Promise<Checkout> {
  const checkout = await describeCheckout(project);
  if (!checkout) {
    throw atsfError(
      { kind: "atsf.not_a_repository", dir: project },
      `${project} is not in a git repository, so it can't have worktrees. Run \`git init\` and commit, or start the thread without a worktree.`,
    );
  }
  if (checkout.commit === undefined) {
    throw atsfError(
      { kind: "atsf.no_commits", dir: project },
      `The repository of ${project} has no commit yet, so there is nothing to check out. Commit something, or start the thread without a worktree.`,
    );
  }
  return checkout;
}

/** Undefined: the name is taken. Making the directory claims the name against everyone who makes one here at once. */
async function attempt(
  { top, relativeDir }: Checkout,
  directory: string,
  name: string,
): Promise<CreatedWorktree | undefined> {
  const branch = `${BRANCH_PREFIX}${name}`;
  const path = join(directory, `thread-${name}`);
  if (await branchTaken(top, branch)) return undefined;
  try {
    await mkdir(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return undefined;
    throw error;
  }
  let made: string | undefined;
  try {
    // `worktree add -b` in two steps: with one, nobody could tell a branch that someone else made meanwhile from ours.
    await changed(top, ["branch", "--no-track", branch, "HEAD"]);
    made = branch;
    await changed(top, ["worktree", "add", path, branch]);
    return await prepare(path, branch, relativeDir);
  } catch (error) {
    await undo(top, path, made);
    if (isKind(error, "atsf.git_failed") && (await branchTaken(top, branch))) return undefined;
    throw error;
  }
}

/** Git reads the entries of all worktrees, and fails on one that another git is making at that moment. */
async function changed(top: string, args: readonly string[]): Promise<void> {
  const { exitCode, words } = await git(top, args, { writes: true });
  if (exitCode === 0) return;
  if (!HALF_MADE.test(words)) throw gitFailed(args, words, exitCode);
  await gitDone(top, args, { writes: true });
}

/** The file's name is the same in every language git speaks. */
const HALF_MADE = /\bcommondir\b/;

/** Also by a branch below that name, and by one in other letters: where case does not count they are one file. */
async function branchTaken(top: string, branch: string): Promise<boolean> {
  const args = ["for-each-ref", "--count=1", "--ignore-case", `refs/heads/${branch}`];
  return (await gitDone(top, args)).stdout !== "";
}

async function prepare(path: string, branch: string, relativeDir: string): Promise<CreatedWorktree> {
  const real = await realpath(path);
  const workingDir = await makeDirectories(real, relativeDir);
  if (workingDir === undefined) {
    throw atsfError(
      { kind: "atsf.invalid_file", file: join(real, relativeDir), problem: "leads_out" },
      `${relativeDir} is a link that leads out of the repository in its last commit, so no thread can work there.`,
    );
  }
  await ignoreThreads(real);
  const { commit = "" } = (await describeCheckout(real)) ?? {};
  return { path: real, branch, commit, workingDir };
}

/** A thread's files are no change of the user's: without an ignore file of the repository's own, git sees none of them. */
async function ignoreThreads(worktree: string): Promise<void> {
  const file = gitignoreFile(worktree);
  await assertInside(worktree, agentDir(worktree));
  if ((await gitDone(worktree, ["ls-files", "-z", "--", ".agent/.gitignore"])).stdout !== "") return;
  await mkdir(agentDir(worktree), { recursive: true }).catch((error) => {
    throw atsfError(
      { kind: "atsf.invalid_file", file: agentDir(worktree), problem: "not_a_directory" },
      `${agentDir(worktree)} is not a directory, so no thread can be kept in the worktree.`,
      error,
    );
  });
  await writeFile(file, IGNORE_ALL, { flag: "wx" }).catch((error) => {
    if (error.code !== "EEXIST") throw error;
  });
  await syncDirectory(agentDir(worktree));
}

/** Takes back what was made here. Git keeps a branch that is checked out elsewhere by now: it is someone else's. */
async function undo(top: string, path: string, branch: string | undefined): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await git(top, ["worktree", "remove", "--force", "--force", path], { writes: true });
  if (branch !== undefined) await git(top, ["branch", "-D", branch], { writes: true });
}

/** Takes away the directories that were made on the way, as far as nobody uses them. */
async function removeEmpty(directory: string, above: string): Promise<void> {
  for (let dir = directory; dir !== above && dir !== dirname(dir); dir = dirname(dir)) {
    try {
      await rmdir(dir);
    } catch (error) {
      if (isMissing(error)) continue;
      return;
    }
  }
}
