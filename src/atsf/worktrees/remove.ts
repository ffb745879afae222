import { lstat, readFile, readlink, realpath, symlink, unlink } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { atsfError } from "../errors.js";
import { isThere } from "../files.js";
import { isOwnGitignore } from "../gitignore.js";
import type { OnWaiting } from "../lock.js";
import { BRANCH_PREFIX } from "./create.js";
import { git, gitDone, gitFailed } from "./git.js";
import { isBelow } from "./is-below.js";
import { listWorktrees, type Worktree } from "./list.js";
import { rescuedThread, rescueThreads } from "./rescue-threads.js";

const MOST_FILES = 20;

export interface WorktreeToRemove {
  /** The project whose thread worked there; its `.agent` takes over the threads. */
  readonly project: string;
  readonly path: string;
  /** The branch that was made with it, if that is known: it goes too where the worktree is gone already. */
  readonly branch?: string;
  /** Remove it although work would be lost. */
  readonly force?: boolean;
  /** Told when another program has been writing to one of its threads for two seconds. */
  readonly onWaiting?: OnWaiting;
}

export interface RemovedWorktree {
  /** Threads that now stand in the project. */
  readonly copied: readonly string[];
  /** The branch that went too, because it had no commit of its own. */
  readonly deletedBranch?: string;
}

/**
 * Removes a worktree once its threads are safe. Work that exists nowhere else is refused unless forced. Whoever has
 * its threads open closes them first: what they write to afterwards is gone.
 */
export async function removeWorktree({
  project,
  path,
  branch,
  force = false,
  onWaiting,
}: WorktreeToRemove): Promise<RemovedWorktree> {
  const worktrees = await listWorktrees(project);
  const worktree = await findWorktree(worktrees, project, path);
  if (worktree === undefined) return { copied: [], ...(await deleteSpentBranch(project, { branch })) };
  if (worktree.locked !== undefined) throw locked(worktree);
  const remove = (args: string[]) =>
    gitDone(project, ["worktree", "remove", ...args, worktree.path], { writes: true }).then(() => {});
  let copied: readonly string[] = [];
  if (await isThere(worktree.path)) {
    if (!force) {
      await assertCommitted(worktree, worktrees);
      await assertPushed(worktree);
    }
    copied = await rescueThreads({ worktree: worktree.path, project, force, onWaiting }, async () => {
      // Looked at again once nobody writes to the threads: with `--force` git looks at nothing.
      const { links, threads } = force ? NOTHING : await assertCommitted(worktree, worktrees);
      await without(links, () => remove(force || threads ? ["--force"] : []));
    });
  } else await remove(["--force"]);
  return { copied, ...(await deleteSpentBranch(project, worktree)) };
}

/** Undefined: it is gone from git and from the disk already. */
async function findWorktree(
  worktrees: readonly Worktree[],
  project: string,
  path: string,
): Promise<Worktree | undefined> {
  const real = (dir: string) => realpath(dir).catch(() => resolve(dir));
  const wanted = await real(path);
  const own = await real(project);
  for (const [index, worktree] of worktrees.entries()) {
    if ((await real(worktree.path)) !== wanted) continue;
    if (index === 0 || isBelow(wanted, own)) break;
    return worktree;
  }
  if (!(await isThere(wanted))) return undefined;
  throw atsfError(
    { kind: "atsf.not_a_worktree", path },
    `${path} is not a worktree of ${project} that can be removed: \`git worktree list\` shows which there are, and a project's own checkout is not one of them.`,
  );
}

/** A removal that git refuses in the end leaves the links as they were. */
async function without(links: readonly Link[], work: () => Promise<void>): Promise<void> {
  for (const { file } of links) await unlink(file);
  try {
    await work();
  } catch (error) {
    for (const { file, target } of links) await symlink(target, file).catch(() => {});
    throw error;
  }
}

interface Link {
  readonly file: string;
  readonly target: string;
}

/** What is not committed and yet no work that would be lost. */
interface NoWork {
  /** Into another checkout: hooks make them. */
  readonly links: readonly Link[];
  /** Files of threads, which stand in the project by then, are in git's way. */
  readonly threads: boolean;
}

const NOTHING: NoWork = { links: [], threads: false };

async function assertCommitted({ path }: Worktree, worktrees: readonly Worktree[]): Promise<NoWork> {
  const { changes, more } = await uncommitted(path);
  const links: Link[] = [];
  const files: string[] = [];
  let threads = false;
  for (const { file, state } of changes) {
    const link = state === UNTRACKED ? await linkInto(worktrees, join(path, file)) : undefined;
    if (link) links.push(link);
    else if (await isOfThreads(path, file, state)) threads = true;
    else files.push(file);
  }
  // Git never removes a checkout with submodules unless forced, and forced it would not look for work in them.
  if (files.length === 0 && !more) return { links, threads: threads && !(await hasSubmodules(path)) };
  throw atsfError(
    { kind: "atsf.worktree_uncommitted", path, files: files.slice(0, MOST_FILES), count: files.length },
    `${path} has changes that are not committed (${files.slice(0, 3).join(", ")}${files.length > 3 ? " …" : ""}). Commit them, or force the removal and lose them.`,
  );
}

const UNTRACKED = "??";

/** A thread's file as it is now goes to the project; that one was deleted, or is in conflict, does not. */
async function isOfThreads(worktree: string, file: string, state: string): Promise<boolean> {
  if (rescuedThread(file) !== undefined) return !/[DU]/.test(state);
  if (file !== ".agent/.gitignore" || state !== UNTRACKED) return false;
  return isOwnGitignore(await readFile(join(worktree, file), "utf8").catch(() => ""));
}

function hasSubmodules(worktree: string): Promise<boolean> {
  return isThere(join(worktree, ".gitmodules"));
}

async function uncommitted(path: string) {
  const args = [
    ...["status", "--porcelain", "-z", "--no-renames"],
    ...["--untracked-files=all", "--ignore-submodules=none"],
  ];
  const { exitCode, stdout, words, cut } = await git(path, args);
  if (exitCode !== 0) throw gitFailed(args, words, exitCode);
  const entries = stdout.split("\0").filter((entry) => entry !== "");
  const changes = entries.map((entry) => ({ state: entry.slice(0, 2), file: entry.slice(3) }));
  return { changes, more: cut };
}

async function linkInto(worktrees: readonly Worktree[], file: string): Promise<Link | undefined> {
  const found = await lstat(file).catch(() => undefined);
  if (!found?.isSymbolicLink()) return undefined;
  const target = await readlink(file);
  const inside = isAbsolute(target) && worktrees.some(({ path }) => isBelow(path, target));
  return inside ? { file, target } : undefined;
}

async function assertPushed(worktree: Worktree): Promise<void> {
  const commits = await commitsOnlyHere(worktree, ["--remotes"]);
  if (commits === 0) return;
  throw atsfError(
    { kind: "atsf.worktree_unpushed", path: worktree.path, commits },
    `${worktree.path} has ${commits === 1 ? "a commit" : `${commits} commits`} that no remote and no other branch has. Push or merge ${worktree.branch ?? "them"}, or force the removal.`,
  );
}

/** Commits that no other local branch has, nor any of the other references. */
async function commitsOnlyHere(
  { path, branch, commit }: Pick<Worktree, "path" | "branch" | "commit">,
  others: string[],
): Promise<number> {
  if (commit === undefined) return 0;
  const exclude = branch === undefined ? [] : [`--exclude=${branch}`];
  const args = ["rev-list", "--count", commit, "--not", ...others, ...exclude, "--branches"];
  return Number((await gitDone(path, args)).stdout);
}

/** Only branches that were made with a worktree go, and only when another branch has all they have; the user's own stay. */
async function deleteSpentBranch(
  project: string,
  { branch, commit }: { readonly branch?: string | undefined; readonly commit?: string | undefined },
): Promise<Pick<RemovedWorktree, "deletedBranch">> {
  if (!branch?.startsWith(BRANCH_PREFIX)) return {};
  const own = await commitsOnlyHere({ path: project, branch, commit: commit ?? branch }, []).catch(
    () => undefined,
  );
  if (own !== 0) return {};
  const { exitCode } = await git(project, ["branch", "-d", branch], { writes: true });
  return exitCode === 0 ? { deletedBranch: branch } : {};
}

function locked({ path, locked: reason = "" }: Worktree) {
  return atsfError(
    { kind: "atsf.worktree_locked", path, reason },
    `${path} is locked${reason ? ` (${reason})` : ""}. Unlock it with \`git worktree unlock\` first.`,
  );
}
