import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { createInterface } from "node:readline";

export interface Ready {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
}

/** Whoever ends this test in the middle leaves no gateway behind. */
const living = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of living) child.kill("SIGKILL");
});

/** A `heddle serve` that may be killed at any moment. What it has to say is kept in a file. */
export class Mortal {
  readonly ready: Promise<Ready>;
  readonly #exited: Promise<{ code: number | null; signal: string | null }>;
  readonly #child: ChildProcess;
  #asked = false;

  constructor(command: readonly string[], env: NodeJS.ProcessEnv, logFile: string) {
    const log = openSync(logFile, "a");
    writeSync(log, `--- started ${new Date().toISOString()}\n`);
    this.#child = spawn(command[0] as string, command.slice(1), { stdio: ["ignore", "pipe", log], env });
    living.add(this.#child);
    this.#exited = new Promise((done) => {
      this.#child.on("exit", (code, signal) => {
        living.delete(this.#child);
        closeSync(log);
        done({ code, signal });
      });
    });
    this.ready = new Promise((resolve, reject) => {
      const lines = createInterface({ input: this.#child.stdout as NodeJS.ReadableStream });
      lines.once("line", (line) => resolve(JSON.parse(line) as Ready));
      lines.once("close", () => reject(new Error(`the gateway ended before it was ready, see ${logFile}`)));
    });
    // Who kills it while it starts does not wait for it.
    this.ready.catch(() => {});
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /**
   * Ends it as a power switch would end a program: it learns nothing of it. Answers false where it had stopped before, as
   * it was asked to; one that had ended by itself is a failure of its own.
   */
  async kill(): Promise<boolean> {
    this.#child.kill("SIGKILL");
    const { code, signal } = await this.#exited;
    if (signal === "SIGKILL") return true;
    if (this.#asked && code === 0) return false;
    throw new Error(`the gateway ended by itself, with ${signal ?? `exit code ${code}`}`);
  }

  askToStop(): void {
    this.#asked = true;
    this.#child.kill("SIGTERM");
  }
}
