import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Namespaces of one's own let a test mount without being root; not every system grants them. */
export const canMount = spawnSync("unshare", ["-Urm", "true"]).status === 0;

const HOLD = 'mount -t tmpfs -o "size=$2" none "$1" && echo ready && exec cat';
const PIECE = Buffer.alloc(64 * 1024, "x");

/** A disk of a few megabytes that only those see who are started through it. It outlives the gateways on it. */
export class SmallDisk {
  readonly #holder: ChildProcess;

  private constructor(
    holder: ChildProcess,
    readonly dir: string,
  ) {
    this.#holder = holder;
  }

  static async make(dir: string, size: string): Promise<SmallDisk> {
    const holder = spawn("unshare", ["-Urm", "sh", "-c", HOLD, "sh", dir, size], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    await new Promise<void>((resolve, reject) => {
      holder.stdout.once("data", () => resolve());
      holder.once("exit", (code) => reject(new Error(`the disk could not be mounted (${code})`)));
    });
    return new SmallDisk(holder, dir);
  }

  /** What a command is started through to see it. */
  get through(): string[] {
    return ["nsenter", "-t", String(this.#holder.pid), "-U", "-m", "--preserve-credentials", "--"];
  }

  /** Where this process finds what is on it. */
  get seenAt(): string {
    return `/proc/${this.#holder.pid}/root${this.dir}`;
  }

  /** Until there is no room for another byte. */
  fill(): void {
    for (const size of [PIECE.length, 4096, 1]) {
      try {
        for (;;) writeFileSync(this.#filler, PIECE.subarray(0, size), { flag: "a" });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      }
    }
  }

  free(): void {
    rmSync(this.#filler, { force: true });
  }

  async close(): Promise<void> {
    const gone = new Promise((done) => this.#holder.once("exit", done));
    this.#holder.stdin?.end();
    await gone;
  }

  get #filler(): string {
    return join(this.seenAt, "filler");
  }
}
