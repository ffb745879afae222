import { execFile, spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";

/**
 * Ends what a program has started outside its own process group, such as a command in a session of its own. On Linux it is
 * known by its environment, which names the program's scratch directory, even when the program itself is gone; elsewhere by
 * its ancestors, who must still be there.
 */
export class Strays {
  readonly #mark: string;
  readonly #seen = new Set<number>();

  constructor(mark: string) {
    this.#mark = mark;
  }

  /** Before the program is ended. */
  async look(pid: number | undefined): Promise<void> {
    if (process.platform === "linux" || process.platform === "win32" || pid === undefined) return;
    for (const one of await descendants(pid)) this.#seen.add(one);
  }

  /** After it has ended. */
  async end(): Promise<void> {
    const left = process.platform === "linux" ? await marked(this.#mark) : this.#seen;
    for (const pid of left) kill(pid);
  }
}

/**
 * When this process dies, however it does: a shell of its own then ends what carries the mark and removes the directory that
 * it names. Answers what calls it off.
 */
export function endStraysWithUs(scratch: string): () => void {
  if (process.platform === "win32") return () => {};
  const guard = spawn("/bin/sh", ["-c", GUARD, "sh", scratch], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
  guard.on("error", () => {});
  guard.stdin.on("error", () => {});
  return () => void guard.kill("SIGKILL");
}

/** The second time for what was just being started, or was still writing, when the first began. */
const GUARD = `read -r _
for time in 1 2; do
  for file in $(grep -lasF -- "$1" /proc/[0-9]*/environ); do
    pid=\${file#/proc/}
    kill -s KILL "\${pid%/environ}"
  done
  sleep 1
  rm -rf -- "$1"
done`;

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has gone by itself.
  }
}

async function marked(mark: string): Promise<number[]> {
  const names = await readdir("/proc").catch(() => []);
  const pids = names.map(Number).filter((pid) => pid > 1 && pid !== process.pid);
  const found = await Promise.all(
    pids.map(async (pid) => {
      // Those of others can't be read, and are not ours.
      const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      return environment.includes(mark) ? [pid] : [];
    }),
  );
  return found.flat();
}

async function descendants(pid: number): Promise<Set<number>> {
  const { stdout } = await promisify(execFile)("ps", ["-axo", "pid=,ppid="]).catch(() => ({ stdout: "" }));
  const pairs = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const found = new Set<number>();
  const grow = (parent: number) => {
    for (const [child = 0, itsParent] of pairs) {
      if (itsParent !== parent || found.has(child)) continue;
      found.add(child);
      grow(child);
    }
  };
  grow(pid);
  return found;
}
