import { realpath } from "node:fs/promises";
import { relative, resolve, sep } from "node:path";
import { git, gitFailed, isOutside } from "./git.js";

export interface Checkout {
  /** The checkout's root: the main one's, or a worktree's. */
  readonly top: string;
  /** The directory below it, with forward slashes; "." for the root itself. */
  readonly relativeDir: string;
  /** Absent when HEAD stands on no branch, and before the first commit. */
  readonly branch?: string;
  readonly commit?: string;
}

const BRANCHES = "refs/heads/";

/** Where a directory stands in its checkout, and on which commit; undefined outside a git checkout. */
export async function describeCheckout(dir: string): Promise<Checkout | undefined> {
  const args = ["rev-parse", "--is-inside-work-tree", "--show-cdup", "HEAD", "--symbolic-full-name", "HEAD"];
  const answer = await git(dir, args);
  const [inside, up = "", commit = "", ref = ""] = answer.stdout.split("\n");
  if (inside === "false" || isOutside(answer)) return undefined;
  if (inside !== "true") throw gitFailed(args, answer.words, answer.exitCode);
  const real = await realpath(dir);
  const top = resolve(real, up);
  const place = { top, relativeDir: relative(top, real).split(sep).join("/") || "." };
  if (answer.exitCode !== 0) return place;
  return ref.startsWith(BRANCHES)
    ? { ...place, branch: ref.slice(BRANCHES.length), commit }
    : { ...place, commit };
}
