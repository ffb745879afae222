import { existsSync, statSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { readRegular } from "./regular-file.js";

/** Where a directory stands in its git checkout. */
export interface GitHead {
  /** The root of the checkout. */
  readonly top: string;
  readonly relativeDir: string;
  /** Absent when HEAD is detached. */
  readonly branch?: string;
  /** Absent before the first commit. */
  readonly commit?: string;
}

/**
 * What git would say of a directory's HEAD, from its files: starting git takes longer than making a thread does.
 * Undefined outside git. Branch and commit are left out where only git itself can tell (another ref storage).
 */
export function readGitHead(dir: string): GitHead | undefined {
  const top = findTop(dir);
  if (top === undefined) return undefined;
  const relativeDir = relative(top, dir) || ".";
  const gitDir = gitDirOf(top);
  const head = gitDir && readTrimmed(join(gitDir, "HEAD"));
  if (!gitDir || !head) return { top, relativeDir };
  if (!head.startsWith("ref: ")) return { top, relativeDir, ...(isHash(head) && { commit: head }) };
  const ref = head.slice("ref: ".length).trim();
  if (!ref.startsWith("refs/heads/") || ref === "refs/heads/.invalid") return { top, relativeDir };
  const commit = resolveRef(gitDir, ref);
  return { top, relativeDir, branch: ref.slice("refs/heads/".length), ...(commit && { commit }) };
}

/**
 * Whether git would list another checkout beside the one a directory stands in, from its files. What only git itself can
 * tell counts as yes.
 */
export function mayHaveLinkedCheckouts(dir: string): boolean {
  const top = findTop(dir);
  if (top === undefined) return isInBareRepository(dir);
  const gitDir = gitDirOf(top);
  return gitDir === undefined || existsSync(join(commonDirOf(gitDir), "worktrees"));
}

/** A repository without a checkout of its own stands in a directory as what is elsewhere within `.git`. */
function isInBareRepository(dir: string): boolean {
  for (let at = resolve(dir); ; at = dirname(at)) {
    if (existsSync(join(at, "HEAD")) && existsSync(join(at, "objects"))) return true;
    if (dirname(at) === at) return false;
  }
}

function findTop(dir: string): string | undefined {
  for (let at = resolve(dir); ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return at;
    if (dirname(at) === at) return undefined;
  }
}

/** `.git` is a directory, or in a worktree a file that names one. */
function gitDirOf(top: string): string | undefined {
  const path = join(top, ".git");
  if (statSync(path).isDirectory()) return path;
  const text = readTrimmed(path);
  return text?.startsWith("gitdir: ") ? resolve(top, text.slice("gitdir: ".length)) : undefined;
}

function commonDirOf(gitDir: string): string {
  const shared = readTrimmed(join(gitDir, "commondir"));
  return shared === undefined ? gitDir : resolve(gitDir, shared);
}

/** A worktree's branches stand in the repository it belongs to. */
function resolveRef(gitDir: string, ref: string): string | undefined {
  const common = commonDirOf(gitDir);
  const loose = readTrimmed(join(common, ref));
  if (loose !== undefined) return isHash(loose) ? loose : undefined;
  const packed = readTrimmed(join(common, "packed-refs"), LARGEST_PACKED);
  const line = packed?.split("\n").find((each) => each.endsWith(` ${ref}`));
  const commit = line?.split(" ")[0];
  return commit !== undefined && isHash(commit) ? commit : undefined;
}

function isHash(text: string): boolean {
  return /^[0-9a-f]{40}([0-9a-f]{24})?$/.test(text);
}

const LARGEST = 64 * 1024;
/** Of some two hundred thousand branches and tags. What is larger is left to git itself. */
const LARGEST_PACKED = 16 * 1024 * 1024;

function readTrimmed(path: string, largest = LARGEST): string | undefined {
  try {
    return readRegular(path, { largest })?.toString("utf8").trim();
  } catch {
    return undefined;
  }
}
