import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { endGroup, endGroupWithUs, HAS_GROUPS } from "../../base/index.js";
import { groupRuns } from "./group-runs.js";

/** Who is cancelled is to be gone by the time anybody notices; who had its time gets two seconds to clean up. */
const CANCEL_GRACE_MS = 120;
const LATE_GRACE_MS = 2_000;
const LEFT_GRACE_MS = 500;
const LOOK_EVERY_MS = 20;
const DYING_MS = 200;
const QUIET_LOOKS = 10;
const MOST_LOOKS = 100;

export interface Command {
  readonly command: string;
  readonly cwd: string;
  /** All of the environment it sees. */
  readonly env: NodeJS.ProcessEnv;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Both streams, in the order they were written. */
  readonly onOutput: (chunk: Buffer) => void;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  /** It had left something running, which was ended. */
  readonly leftRunning: boolean;
}

/** Runs a shell command to its end and past it: nothing it started in its group is left when this settles. */
export async function runShell(given: Command): Promise<Exit> {
  const child = start(given);
  let seen = 0;
  child.stdout?.on("data", (chunk: Buffer) => {
    seen += chunk.length;
    given.onOutput(chunk);
  });
  const release = child.pid === undefined ? () => {} : endGroupWithUs(child.pid);
  const watch = watchOver(child, given);
  try {
    const { code, signal } = await exited(child);
    const { timedOut, ended } = await watch.over();
    const leftRunning = ended ? false : await endRest(child);
    await drained(child, () => seen);
    return { code, signal, timedOut, leftRunning };
  } finally {
    watch.end();
    child.stdout?.destroy();
    release();
  }
}

/** One pipe for both streams: two would lose the order in which they were written to. */
function start({ command, cwd, env }: Command): ChildProcess {
  const shell = ["/bin/bash", "/bin/sh"].find((path) => existsSync(path)) ?? "sh";
  return spawn("/bin/sh", ["-c", 'exec "$@" 2>&1', "sh", shell, "-c", "--", command], {
    cwd,
    env,
    detached: HAS_GROUPS,
    stdio: ["ignore", "pipe", "ignore"],
    windowsHide: true,
  });
}

/** Ends the command when its time is up or its caller gives up. */
function watchOver({ pid }: ChildProcess, { timeoutMs, signal }: Command) {
  let timedOut = false;
  let ending: Promise<void> | undefined;
  const stop = (graceMs: number) => {
    if (pid !== undefined) ending ??= endGroup(pid, graceMs);
  };
  const late = () => {
    timedOut = ending === undefined;
    stop(LATE_GRACE_MS);
  };
  // A group that is being given its time is killed at once when nobody waits for it any more.
  const abort = () => {
    if (pid !== undefined) ending = Promise.all([ending, endGroup(pid, CANCEL_GRACE_MS)]).then(() => {});
  };
  const timer = setTimeout(late, timeoutMs);
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  return {
    async over(): Promise<{ timedOut: boolean; ended: boolean }> {
      clearTimeout(timer);
      await ending;
      return { timedOut, ended: ending !== undefined };
    },
    end() {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    },
  };
}

function exited(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", reject);
  });
}

/** Ends what a command left in its group. Who was about to end anyway is given the moment that takes. */
async function endRest({ pid }: ChildProcess): Promise<boolean> {
  if (pid === undefined) return false;
  const until = performance.now() + DYING_MS;
  while (await groupRuns(pid)) {
    if (performance.now() < until) await aMoment();
    else return endGroup(pid, LEFT_GRACE_MS).then(() => true);
  }
  return false;
}

/** Reads what is left in the pipe. Who left the group with the pipe in hand can't keep us waiting. */
async function drained({ stdout }: ChildProcess, seen: () => number): Promise<void> {
  // Time alone would not do: on a busy machine it passes before what is left in the pipe was read.
  let quiet = 0;
  for (let look = 0; look < MOST_LOOKS && quiet < QUIET_LOOKS; look++) {
    if (!stdout || stdout.closed) return;
    const before = seen();
    await aMoment();
    quiet = seen() === before ? quiet + 1 : 0;
  }
}

function aMoment(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
}
