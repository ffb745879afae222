import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";

const GRACE_MS = 2_000;
const LAST_WAIT_MS = 1_000;
const LOOK_EVERY_MS = 20;

/** Where the system has no process groups, a process is ended together with the tree below it. */
export const HAS_GROUPS = process.platform !== "win32";

/**
 * Ends every process of a group: asked first, killed two seconds later. The waiting is bounded: a dead process
 * that nobody collects keeps its group in existence for ever. Who left the group (`setsid`) is out of reach.
 */
export async function endGroup(pid: number, graceMs = GRACE_MS): Promise<void> {
  if (!HAS_GROUPS) return endTree(pid);
  signalGroup(pid, "SIGTERM");
  if (await emptied(pid, graceMs)) return;
  signalGroup(pid, "SIGKILL");
  await emptied(pid, LAST_WAIT_MS);
}

/**
 * Ends a group when this process dies, however it does: a shell of its own waits for the end of a pipe that only this
 * process holds. It is asked first: where environments can't be seen, only a program itself can end what it started
 * outside of its group. Elsewhere what carries the `mark` in its environment ends too, and the directory `scratch` goes.
 * Answers what calls it off, once the group has ended by itself.
 */
export function endGroupWithUs(
  pid: number,
  { mark = "", scratch = "" }: { readonly mark?: string; readonly scratch?: string | undefined } = {},
): () => void {
  if (!HAS_GROUPS) return () => {};
  const guard = spawn("/bin/sh", ["-c", GUARD, "sh", String(pid), mark, scratch], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  // Without a guard the group ends as it would have, by its own time limit.
  guard.on("error", () => {});
  guard.stdin.on("error", () => {});
  return () => void guard.kill("SIGKILL");
}

/** Waits for our end, then ends the group and what carries the mark: twice, for what was just being started. */
const GUARD = `read -r _
kill -s TERM -- "-$1"
sleep 0.3
kill -s KILL -- "-$1"
for time in 1 2; do
  [ -n "$2" ] && for found in $(grep -lasF -- "$2" /proc/[0-9]*/environ); do
    found=\${found#/proc/}
    kill -s KILL "\${found%%/*}"
  done
  [ -n "$3" ] && rm -rf -- "$3"
  sleep 0.5
done`;

/**
 * Ends what has left its group and carries a mark in its environment, as everything does that was started by a process
 * with it. Only Linux shows environments; elsewhere this finds nobody.
 */
export async function endMarked(mark: string): Promise<void> {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.map(Number).filter((pid) => pid > 1 && pid !== process.pid);
  await Promise.all(
    pids.map(async (pid) => {
      // Those of others can't be read, and are not ours.
      const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      if (environment.includes(mark)) signal(pid, "SIGKILL");
    }),
  );
}

/** Whether anything of a group is there, dead processes that were not collected yet included. */
export function groupLives(pid: number): boolean {
  return HAS_GROUPS && signalGroup(pid, 0);
}

function signalGroup(pid: number, kind: NodeJS.Signals | 0): boolean {
  return signal(-pid, kind);
}

function signal(pid: number, kind: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, kind);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

async function emptied(pid: number, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs;
  while (groupLives(pid)) {
    if (performance.now() >= until) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
  return true;
}

async function endTree(pid: number): Promise<void> {
  const killer = spawn("taskkill", ["/pid", String(pid), "/t", "/f"], { stdio: "ignore", windowsHide: true });
  await once(killer, "exit").catch(() => {});
}
