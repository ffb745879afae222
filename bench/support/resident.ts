import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Child } from "./child.js";

/** Millions of bytes a process holds in memory. */
export function residentMegabytes({ pid }: Pick<Child, "pid">): number {
  const kilobytes = process.platform === "linux" ? fromProc(pid) : fromPs(pid);
  return (kilobytes * 1024) / 1e6;
}

function fromProc(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

function fromPs(pid: number): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }));
}
