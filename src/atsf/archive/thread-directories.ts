import { lstat, readdir, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import { reading } from "../disk.js";
import { readEnvelope } from "../envelope.js";
import { atsfError } from "../errors.js";
import { readGitHead } from "../git-head.js";
import { agentDir, ENVELOPE, threadsDir } from "../layout.js";
import { belongsTo, ownerOf, type ThreadCopy, threadPlaces } from "../worktrees/find-threads.js";

/**
 * The directories of the threads that are meant by one: a project's with those in its worktrees, those in a directory of
 * threads, or the thread's own. Links are passed over.
 */
export async function threadDirectories(from: string): Promise<string[]> {
  const real = await realpath(from).catch(() => from);
  if (!(await is(real, "directory"))) {
    throw atsfError({ kind: "atsf.not_a_directory", dir: from }, `${from} is not a directory.`);
  }
  const isProject = await hasThreads(real);
  if (!isProject && (await is(join(real, ENVELOPE), "file"))) return [real];
  const own = await directoriesIn(isProject ? threadsDir(real) : real);
  const linked = await inWorktrees(real);
  if (linked.length === 0) return own;
  // Without threads of its own it is no directory of threads: what else stands in it are a project's files.
  const copies = isProject ? own.map((dir) => ({ dir, place: real })) : [];
  return withOwners(real, [...(await Promise.all(copies.map(withContext))), ...linked]);
}

interface Copy extends ThreadCopy {
  readonly dir: string;
}

/** Several projects may share a repository: of what stands in its worktrees only this one's. */
async function inWorktrees(main: string): Promise<Copy[]> {
  const [, ...places] = await threadPlaces(main, []);
  const relativeDir = readGitHead(main)?.relativeDir ?? ".";
  const ours: Copy[] = [];
  for (const place of places) {
    if (!(await hasThreads(place))) continue;
    for (const dir of await directoriesIn(threadsDir(place))) {
      const context = await contextOf(dir);
      if (context && belongsTo(context, relativeDir)) ours.push({ dir, place, context });
    }
  }
  return ours;
}

/** Each thread once: of several copies the one that counts. */
async function withOwners(main: string, copies: readonly Copy[]): Promise<string[]> {
  const byId = new Map<string, Copy[]>();
  for (const copy of copies) {
    const id = basename(copy.dir);
    byId.set(id, [...(byId.get(id) ?? []), copy]);
  }
  const owners = await Promise.all([...byId.values()].map((each) => ownerOf(each, main)));
  return owners.flatMap((owner) => owner?.dir ?? []).sort((a, b) => (basename(a) < basename(b) ? -1 : 1));
}

async function withContext({ dir, place }: Pick<Copy, "dir" | "place">): Promise<Copy> {
  return { dir, place, context: (await contextOf(dir)) ?? {} };
}

/** One that can't be read is told of when the thread is taken. */
async function contextOf(dir: string) {
  return readEnvelope(dir).then(
    ({ envelope }) => envelope.context,
    () => undefined,
  );
}

async function hasThreads(root: string): Promise<boolean> {
  return (await is(agentDir(root), "directory")) && (await is(threadsDir(root), "directory"));
}

async function directoriesIn(parent: string): Promise<string[]> {
  const entries = await reading(parent, () => readdir(parent, { withFileTypes: true }));
  return entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .map(({ name }) => join(parent, name))
    .sort();
}

/** What stands there itself, not what a link there leads to. */
async function is(path: string, what: "directory" | "file"): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined);
  return (what === "directory" ? found?.isDirectory() : found?.isFile()) ?? false;
}
