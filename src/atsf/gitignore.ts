import { existsSync, lstatSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { createAtomic } from "./files.js";
import { readGitHead } from "./git-head.js";
import { gitignoreFile } from "./layout.js";
import { readRegular } from "./regular-file.js";

/** The format's own file, with `threads/*\/*` added so that what its last comment says is true. */
export const GITIGNORE = `# Agent Thread Storage Format - default .gitignore
# Conversation threads are not committed by default.
# They can be large and may contain sensitive content.

# Ignore message logs and binary assets
threads/*/messages.jsonl
threads/*/assets/

threads/*/*
# Thread metadata is also ignored by default.
# Uncomment the next line to track thread metadata (useful for team awareness):
# !threads/*/thread.json
`;

/** Writes the ignore file where there is none; one that is there is the user's and stays. */
export function ensureGitignore(root: string): Promise<boolean> {
  return createAtomic(gitignoreFile(root), GITIGNORE);
}

/** An ignore file that leaves out everything beside it, itself included. */
export const IGNORE_ALL = "*\n";

/** For a thread's own directory: what is no part of the conversation. */
const IGNORE_LEFTOVERS = `# The lock, and what was put aside here, are of no use to anyone else.
.gitignore
thread.lock*
*.cleared-*
*.torn-*
*.broken-*
.*.tmp
`;

/**
 * Called before a thread is written to. The project's ignore file may be another program's and let git see the lock and
 * what is put aside: then the thread gets an ignore file of its own. In a worktree, where threads are no work of the
 * user's, git sees nothing of it unless the project tracks `thread.json`.
 */
export async function hideFromGit(dir: string): Promise<void> {
  const root = dirname(dirname(dirname(dir)));
  const rules = rulesIn(root);
  if (coverThreads(rules)) return;
  const all = !trackEnvelopes(rules) && isLinkedWorktree(root);
  await createAtomic(join(dir, ".gitignore"), all ? IGNORE_ALL : IGNORE_LEFTOVERS);
}

/** Whether an ignore file in a project or a thread is one that is written here, to the letter. */
export function isOwnGitignore(text: string): boolean {
  return [GITIGNORE, IGNORE_ALL, IGNORE_LEFTOVERS].includes(text);
}

function rulesIn(root: string): string[] {
  const lines = (readSmall(gitignoreFile(root)) ?? "").split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "" && !line.startsWith("#"));
}

const COVERING = /^(\*\*?|\*\*\/\*|threads(\/\*\*?)?|threads\/(\*|\*\*)\/\*\*?)$/;
const HARMLESS = /(^|\/)(thread\.json|config\.json|\.gitignore)$/;

/** A rule that is not understood counts as covering nothing: an ignore file too many harms nobody. */
function coverThreads(rules: readonly string[]): boolean {
  const covering = rules.findLastIndex((rule) => COVERING.test(rule.replace(/^\/|\/$/g, "")));
  return covering >= 0 && rules.slice(covering).every((rule) => !rule.startsWith("!") || HARMLESS.test(rule));
}

function trackEnvelopes(rules: readonly string[]): boolean {
  return rules.some((rule) => /^!.*(thread|\*)\.json$/.test(rule));
}

/** A submodule's `.git` is a file too, but only a worktree shares its repository with another checkout. */
function isLinkedWorktree(root: string): boolean {
  const { top = root } = readGitHead(root) ?? {};
  const [, gitDir] = /^gitdir: (.+)/.exec(readSmall(join(top, ".git")) ?? "") ?? [];
  return gitDir !== undefined && existsSync(join(resolve(top, gitDir), "commondir"));
}

const LARGEST = 1024 * 1024;

/** Git follows no link to an ignore file either. */
function readSmall(path: string): string | undefined {
  try {
    return lstatSync(path).isFile() ? readRegular(path, { largest: LARGEST })?.toString("utf8") : undefined;
  } catch {
    return undefined;
  }
}
