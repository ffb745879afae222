import { spawn } from "node:child_process";
import { once } from "node:events";

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
 * process holds. Answers what calls it off, once the group has ended by itself.
 */
export function endGroupWithUs(pid: number): () => void {
  if (!HAS_GROUPS) return () => {};
  const wait = 'read -r _; kill -s KILL -- "-$1"';
  const guard = spawn("/bin/sh", ["-c", wait, "sh", String(pid)], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  // Without a guard the group ends as it would have, by its own time limit.
  guard.on("error", () => {});
  guard.stdin.on("error", () => {});
  return () => void guard.kill("SIGKILL");
}

/** Whether anything of a group is there, dead processes that were not collected yet included. */
export function groupLives(pid: number): boolean {
  return HAS_GROUPS && signalGroup(pid, 0);
}

function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal);
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
