import { existsSync, readFileSync } from "node:fs";

/** Whether a process runs: one that is dead and not collected yet does not. */
export function runs(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  const state = `/proc/${pid}/stat`;
  if (!existsSync("/proc/self/stat")) return true;
  try {
    return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(state, "utf8"));
  } catch {
    return false;
  }
}

/** The process ids that a test's shell commands wrote into a file. */
export function pidsIn(file: string): number[] {
  return readFileSync(file, "utf8").trim().split(/\s+/).map(Number);
}
