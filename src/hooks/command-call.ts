import { type ChildProcess, spawn } from "node:child_process";
import { endGroup, groupLives, HAS_GROUPS } from "../base/index.js";
import { CallFailure } from "./errors.js";
import { Tail } from "./tail.js";

const MOST_OUTPUT = 1_000_000;
const LOOK_EVERY_MS = 50;
const QUIET_LOOKS = 5;
const MOST_LOOKS = 40;

export interface HookCommand {
  /** A program and its arguments, or one line for the system's shell. */
  readonly line: readonly [string, ...string[]] | { readonly shell: string };
  readonly cwd: string;
  /** All of the environment the command sees. */
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Runs a command with a JSON text on its standard input and answers the JSON value it wrote to its standard output; nothing
 * at all stands for no answer. When this settles, nothing the command started in its process group is left.
 */
export async function callCommand(
  command: HookCommand,
  input: string,
  signal: AbortSignal,
): Promise<unknown> {
  if (signal.aborted) throw new CallFailure("late", "it was told to stop");
  const child = start(command);
  const output = collect(child);
  const abort = () => output.stop(new CallFailure("late", "it was told to stop"));
  signal.addEventListener("abort", abort);
  try {
    // A command that does not read its input may be gone before all of it is written.
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
    const exit = await exited(child);
    await leaveNothing(child, output);
    return answerOf(exit, output);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function start({ line, cwd, env }: HookCommand): ChildProcess {
  const options = { cwd, env, detached: HAS_GROUPS, windowsHide: true } as const;
  try {
    if ("shell" in line) return spawn(line.shell, { ...options, shell: true, stdio: "pipe" });
    const [program, ...args] = line;
    return spawn(program, args, { ...options, stdio: "pipe" });
  } catch (error) {
    throw notStarted(error);
  }
}

interface Output {
  readonly chunks: readonly Buffer[];
  readonly words: Tail;
  readonly bytes: () => number;
  readonly stopped: () => CallFailure | undefined;
  stop(why: CallFailure): void;
}

/** Keeps what it writes, and ends it when that is too much or it is told to stop. */
function collect(child: ChildProcess): Output {
  const chunks: Buffer[] = [];
  const words = new Tail();
  let bytes = 0;
  let stopped: CallFailure | undefined;
  const stop = (why: CallFailure) => {
    if (stopped !== undefined || child.pid === undefined) return;
    stopped = why;
    endGroup(child.pid).catch(() => {});
  };
  child.stdout?.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MOST_OUTPUT) chunks.push(chunk);
    else stop(new CallFailure("too_large", `it wrote more than ${MOST_OUTPUT} bytes to its standard output`));
  });
  child.stderr?.on("data", (chunk: Buffer) => words.add(chunk));
  return { chunks, words, bytes: () => bytes, stopped: () => stopped, stop };
}

type Exit = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

function exited(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve, reject) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", (error) => reject(notStarted(error)));
  });
}

/** Its group goes with it, and who left the group with the pipe in hand can't keep us waiting. */
async function leaveNothing(child: ChildProcess, output: Output): Promise<void> {
  if (child.pid !== undefined && groupLives(child.pid)) await endGroup(child.pid);
  const streams = [child.stdin, child.stdout, child.stderr].filter((stream) => stream !== null);
  // Time alone would not do: on a busy machine it passes before what is left in the pipe was read.
  let quiet = 0;
  for (let look = 0; look < MOST_LOOKS && quiet < QUIET_LOOKS; look++) {
    if (streams.every((stream) => stream.closed)) return;
    const before = output.bytes();
    await new Promise((resolve) => setTimeout(resolve, look === 0 ? 0 : LOOK_EVERY_MS));
    quiet = output.bytes() === before ? quiet + 1 : 0;
  }
  for (const stream of streams) stream.destroy();
}

function answerOf({ code, signal }: Exit, { chunks, words, stopped }: Output): unknown {
  const why = stopped();
  if (why) throw new CallFailure(why.reason, why.message, words.text());
  if (code !== 0) {
    const how = signal === null ? `exit code ${code}` : `ended by ${signal}`;
    throw new CallFailure("exited", how, words.text());
  }
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)).trim();
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    throw new CallFailure("invalid_answer", "its standard output is no JSON in UTF-8", words.text());
  }
}

function notStarted(error: unknown): CallFailure {
  return new CallFailure("not_started", (error as Error).message);
}
