import { execFileSync } from "node:child_process";

/** The direct children of a process whose command line holds a word; each leads a group of its own. */
export function childrenOf(parent: number, word: string): number[] {
  const table = execFileSync("ps", ["-eo", "pid=,ppid=,args="], { encoding: "utf8" });
  return table.split("\n").flatMap((line) => {
    const [, pid, ppid, args = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(ppid) === parent && args.includes(word) ? [Number(pid)] : [];
  });
}
