import { stat } from "node:fs/promises";
import type { Readable } from "node:stream";
import { endGroup, HAS_GROUPS } from "../../base/index.js";
import { atsfError } from "../errors.js";
import { OutputTail } from "../worktree-hooks/output-tail.js";

const READ_TIMEOUT_MS = 30_000;
/** Checking out a large repository, with the user's filters and hooks, takes its time. */
const WRITE_TIMEOUT_MS = 15 * 60_000;
const MOST_OUTPUT = 8 * 1024 * 1024;
const MOST_WORDS = 2_000;
/** A hook of the user's may leave a process behind that holds our pipe. Nothing that is read from git is cut short so. */
const PIPE_GRACE_MS = 250;

/**
 * What git would take from the environment instead of from the directory it is run in: a gateway started from within
 * a git hook would work on that hook's repository. The user's configuration, by whatever variable, stays.
 */
const REPOSITORY_VARIABLES = [
  "GIT_DIR",
  "GIT_WORK_TREE",
  "GIT_INDEX_FILE",
  "GIT_COMMON_DIR",
  "GIT_OBJECT_DIRECTORY",
  "GIT_ALTERNATE_OBJECT_DIRECTORIES",
  "GIT_IMPLICIT_WORK_TREE",
  "GIT_NAMESPACE",
  "GIT_PREFIX",
  "GIT_GRAFT_FILE",
  "GIT_SHALLOW_FILE",
  "GIT_INTERNAL_SUPER_PREFIX",
  "GIT_QUARANTINE_PATH",
];

const OWN_REPOSITORY = Object.fromEntries(REPOSITORY_VARIABLES.map((name) => [name, undefined]));

export interface GitAnswer {
  readonly exitCode: number | undefined;
  readonly stdout: string;
  /** There was more on standard output than is kept. */
  readonly cut: boolean;
  /** The end of what git said on standard error. */
  readonly words: string;
}

export interface GitOptions {
  /** It changes the repository: it takes locks, speaks the user's language and has more time. */
  readonly writes?: boolean;
  readonly timeoutMs?: number;
}

/** Runs the user's git in a directory. How it ended is the answer; only a git that can't be run at all is an error. */
export async function git(
  dir: string,
  args: readonly string[],
  { writes = false, timeoutMs = writes ? WRITE_TIMEOUT_MS : READ_TIMEOUT_MS }: GitOptions = {},
): Promise<GitAnswer> {
  // Loaded when first needed: most of those who open a directory never run git, and it would be most of their start.
  const { execa } = await import("execa");
  const child = execa("git", writes ? [...args] : ["--no-optional-locks", ...args], {
    cwd: dir,
    env: { ...OWN_REPOSITORY, GIT_TERMINAL_PROMPT: "0", ...(writes ? {} : { LC_ALL: "C" }) },
    stdin: "ignore",
    buffer: false,
    reject: false,
    detached: HAS_GROUPS,
  });
  const head = keepHead(child.stdout);
  const words = new OutputTail(MOST_WORDS);
  const letGo = () => {
    child.stdout.destroy();
    child.stderr.destroy();
  };
  child.stderr.on("data", (chunk: Buffer) => words.add(chunk));
  let late: Promise<void> | undefined;
  const timer = setTimeout(() => {
    if (child.pid !== undefined) late = endGroup(child.pid).then(letGo);
  }, timeoutMs);
  if (writes) child.once("exit", () => setTimeout(letGo, PIPE_GRACE_MS).unref());
  const { exitCode, code } = await child;
  clearTimeout(timer);
  if (child.pid === undefined) throw await notRun(dir, code ?? "unknown");
  await late;
  if (late) throw gitFailed(args, `it was stopped after ${timeoutMs} ms.`);
  return { exitCode, ...head(), words: words.text().trim() };
}

/** Runs git and refuses anything but success and a whole answer. */
export async function gitDone(
  dir: string,
  args: readonly string[],
  options?: GitOptions,
): Promise<GitAnswer> {
  const answer = await git(dir, args, options);
  if (answer.exitCode !== 0) throw gitFailed(args, answer.words, answer.exitCode);
  if (answer.cut) throw gitFailed(args, "its answer is too long to be read.");
  return answer;
}

export function gitFailed(args: readonly string[], words: string, exit_code?: number) {
  const command = `git ${args.slice(0, 2).join(" ")}`;
  return atsfError(
    { kind: "atsf.git_failed", command, words, ...(exit_code === undefined ? {} : { exit_code }) },
    `\`${command}\` did not succeed: ${words || `exit code ${exit_code}`}`,
  );
}

/** Whether git said that the directory is in no repository (in English: reads run in the C locale). */
export function isOutside({ exitCode, words }: GitAnswer): boolean {
  return exitCode === 128 && /not a git repository/i.test(words);
}

function keepHead(stream: Readable): () => Pick<GitAnswer, "stdout" | "cut"> {
  const chunks: Buffer[] = [];
  let kept = 0;
  let cut = false;
  stream.on("data", (chunk: Buffer) => {
    if (kept + chunk.length > MOST_OUTPUT) cut = true;
    if (cut) return;
    kept += chunk.length;
    chunks.push(chunk);
  });
  return () => ({ stdout: Buffer.concat(chunks).toString("utf8"), cut });
}

/** A directory that is not there and a git that is not there look the same to whoever starts a process. */
async function notRun(dir: string, code: string) {
  const there = await stat(dir).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!there) return atsfError({ kind: "atsf.not_a_directory", dir }, `${dir} is not a directory.`);
  if (code !== "ENOENT") return gitFailed([], `it could not be started (${code}).`);
  return atsfError(
    { kind: "atsf.git_missing" },
    "git was not found. Install git, or see that it is on the PATH, and try again.",
  );
}
