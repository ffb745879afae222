import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Bench } from "../harness.js";

const STOP_WITHIN_MS = 5_000;
const LAST_WORDS = 2_000;

/** A line that was said, as JSON. */
export type Said = Readonly<Record<string, unknown>>;

export interface Started {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** All of what it sees. */
  readonly env: NodeJS.ProcessEnv;
}

/** A program that is spoken to in lines of JSON, with as little around it as can be. Its whole group ends with the entry. */
export class LineProcess {
  readonly #child: ChildProcessWithoutNullStreams;
  #hear: (said: Said) => void = () => {};
  #fail: (why: Error) => void = () => {};
  #lastWords = "";
  #gone: Error | undefined;

  constructor(bench: Bench, { command, args, cwd, env }: Started) {
    this.#child = spawn(command, args, { cwd, env, detached: true });
    bench.onEnd(() => this.#stop());
    this.#child.on("error", (error) => this.#over(error));
    // Not at its exit: its last words may come later.
    this.#child.on("close", (code, signal) => {
      this.#over(new Error(`${command} ended with ${signal ?? code}: ${this.#lastWords}`));
    });
    // Whoever writes to one that has gone is told by its end.
    this.#child.stdin.on("error", () => {});
    this.#child.stderr.on("data", (text) => {
      this.#lastWords = `${this.#lastWords}${text}`.slice(-LAST_WORDS);
    });
    createInterface(this.#child.stdout).on("line", (line) => {
      const said = read(line);
      if (said) this.#hear(said);
    });
  }

  send(message: object): void {
    this.#child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Sends a message and waits for the line that answers it. */
  exchange(message: object, answers: (said: Said) => boolean): Promise<Said> {
    return new Promise((resolve, reject) => {
      if (this.#gone) return reject(this.#gone);
      this.#fail = reject;
      this.#hear = (said) => {
        if (answers(said)) resolve(said);
      };
      this.send(message);
    });
  }

  #over(why: Error): void {
    this.#gone ??= why;
    this.#fail(this.#gone);
  }

  async #stop(): Promise<void> {
    const { pid, exitCode, signalCode } = this.#child;
    if (pid === undefined) return;
    this.#child.stdin.end();
    const last = setTimeout(() => this.#signal(pid, "SIGKILL"), STOP_WITHIN_MS);
    if (exitCode === null && signalCode === null) {
      this.#signal(pid, "SIGTERM");
      await once(this.#child, "exit");
    }
    clearTimeout(last);
    // Also what it has started and left.
    this.#signal(pid, "SIGKILL");
  }

  #signal(group: number, signal: NodeJS.Signals): void {
    try {
      process.kill(-group, signal);
    } catch {
      // Nobody of it is there any more.
    }
  }
}

/** Undefined for what is no message: some programs print that too. */
function read(line: string): Said | undefined {
  try {
    return line.startsWith("{") ? JSON.parse(line) : undefined;
  } catch {
    return undefined;
  }
}
