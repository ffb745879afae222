import { type ChildProcess, spawn } from "node:child_process";
import { endGroup, endGroupWithUs, groupLives, HAS_GROUPS } from "../../base/index.js";
import { OutputTail } from "./output-tail.js";

const TAIL_BYTES = 16 * 1024;
const TELL_EVERY_MS = 1_000;
const LOOK_EVERY_MS = 50;
const QUIET_LOOKS = 5;
const MOST_LOOKS = 40;

export interface CommandToRun {
  readonly command: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Told the end of the output so far, at most once a second, when there is more of it. */
  readonly onOutput?: ((tail: string) => void) | undefined;
}

export interface CommandEnd {
  readonly status: "done" | "failed" | "timed_out";
  readonly reason?: string;
  readonly exitCode?: number;
  readonly output: string;
  readonly outputBytes: number;
  readonly durationMs: number;
}

type Stop = "timed_out" | "aborted";

/** Runs a shell command to its end and past it: nothing it started in its group is left when this resolves. */
export async function runCommand(given: CommandToRun): Promise<CommandEnd> {
  const started = performance.now();
  const tail = new OutputTail(TAIL_BYTES);
  const end = await attempt(given, tail);
  return {
    ...end,
    output: tail.text(),
    outputBytes: tail.bytes,
    durationMs: Math.round(performance.now() - started),
  };
}

type Outcome = Pick<CommandEnd, "status" | "reason" | "exitCode">;

async function attempt(given: CommandToRun, tail: OutputTail): Promise<Outcome> {
  let child: ChildProcess;
  try {
    child = spawn(given.command, {
      shell: true,
      cwd: given.cwd,
      env: given.env,
      detached: HAS_GROUPS,
      stdio: ["ignore", "pipe", "pipe"],
      windowsHide: true,
    });
  } catch (error) {
    return notStarted(error);
  }
  child.stdout?.on("data", (chunk: Buffer) => tail.add(chunk));
  child.stderr?.on("data", (chunk: Buffer) => tail.add(chunk));
  const watch = watchOver(child, given, tail);
  const release = child.pid === undefined ? () => {} : endGroupWithUs(child.pid);
  try {
    const exit = await exited(child);
    if ("error" in exit) return notStarted(exit.error);
    return outcome(exit, await watch.stopped(), given.timeoutMs);
  } finally {
    watch.end();
    await leaveNothing(child, tail);
    release();
  }
}

/** Stops the command when its time is up or its caller gives up, and tells of its output meanwhile. */
function watchOver(child: ChildProcess, { timeoutMs, signal, onOutput }: CommandToRun, tail: OutputTail) {
  let why: Stop | undefined;
  let ending: Promise<void> | undefined;
  let told = 0;
  const stop = (reason: Stop) => {
    if (why !== undefined || child.pid === undefined) return;
    why = reason;
    ending = endGroup(child.pid);
  };
  const abort = () => stop("aborted");
  const timer = setTimeout(stop, timeoutMs, "timed_out");
  const teller = setInterval(() => {
    if (tail.bytes === told) return;
    told = tail.bytes;
    onOutput?.(tail.text());
  }, TELL_EVERY_MS);
  signal?.addEventListener("abort", abort);
  if (signal?.aborted) abort();
  return {
    async stopped(): Promise<Stop | undefined> {
      clearTimeout(timer);
      await ending;
      return why;
    },
    end() {
      clearTimeout(timer);
      clearInterval(teller);
      signal?.removeEventListener("abort", abort);
    },
  };
}

type Exit = { code: number | null; signal: NodeJS.Signals | null } | { error: unknown };

function exited(child: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", (error) => resolve({ error }));
  });
}

/** A child in the background ends with its command, and one that escaped with the pipe in hand can't keep us waiting. */
async function leaveNothing(child: ChildProcess, tail: OutputTail): Promise<void> {
  if (child.pid !== undefined && groupLives(child.pid)) await endGroup(child.pid);
  const streams = [child.stdout, child.stderr].filter((stream) => stream !== null);
  // Time alone would not do: on a busy machine it passes before what is left in the pipe was read.
  let quiet = 0;
  for (let look = 0; look < MOST_LOOKS && quiet < QUIET_LOOKS; look++) {
    if (streams.every((stream) => stream.closed)) return;
    const before = tail.bytes;
    await new Promise((resolve) => setTimeout(resolve, look === 0 ? 0 : LOOK_EVERY_MS));
    quiet = tail.bytes === before ? quiet + 1 : 0;
  }
  for (const stream of streams) stream.destroy();
}

function outcome(
  exit: Exclude<Exit, { error: unknown }>,
  stop: Stop | undefined,
  timeoutMs: number,
): Outcome {
  if (stop === "timed_out") return { status: "timed_out", reason: `not done after ${timeoutMs} ms` };
  if (stop === "aborted") return { status: "failed", reason: "cancelled" };
  if (exit.signal) return { status: "failed", reason: `ended by ${exit.signal}` };
  const exitCode = exit.code ?? 0;
  if (exitCode === 0) return { status: "done", exitCode };
  return { status: "failed", reason: `exit code ${exitCode}`, exitCode };
}

function notStarted(error: unknown): Outcome {
  return { status: "failed", reason: `could not be started: ${(error as Error).message}` };
}
