import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { resolve as absolute } from "node:path";
import type { Answer, Notification } from "./wire.js";

/** The built command; HEDDLE_TEST_COMMAND names another build of it. */
const COMMAND = absolute(process.env.HEDDLE_TEST_COMMAND ?? "dist/bin/heddle.js");

export interface Ready {
  readonly ready: boolean;
  readonly url: string;
  readonly port: number;
  readonly token: string;
  readonly pid: number;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The `heddle` command in a process of its own, with an environment of its own. */
export class HeddleProcess {
  stdout = "";
  stderr = "";
  readonly exited: Promise<Exit>;
  readonly #child: ChildProcessWithoutNullStreams;
  readonly #watchers = new Set<() => void>();
  #running = true;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv = {}, program = COMMAND) {
    this.#child = spawn(process.execPath, [program, ...args], {
      stdio: "pipe",
      env: { PATH: process.env.PATH, HOME: "/nonexistent", ...env },
    });
    this.#child.stdin.on("error", () => {});
    this.#child.stdout.setEncoding("utf8").on("data", (text) => {
      this.stdout += text;
      this.#wake();
    });
    this.#child.stderr.setEncoding("utf8").on("data", (text) => {
      this.stderr += text;
      this.#wake();
    });
    this.exited = new Promise((done) => {
      this.#child.on("close", (code, signal) => {
        this.#running = false;
        done({ code, signal });
        this.#wake();
      });
    });
  }

  get pid(): number {
    return this.#child.pid as number;
  }

  /** The line that `serve --json` prints when it accepts requests. */
  async ready(): Promise<Ready> {
    await this.until(() => this.stdout.includes("\n") || undefined);
    return JSON.parse(this.stdout.split("\n")[0] as string);
  }

  /** Writes to its standard input as it is. */
  write(bytes: string | Uint8Array): void {
    this.#child.stdin.write(bytes);
  }

  endInput(): void {
    this.#child.stdin.end();
  }

  /** Everything that `serve --stdio` has answered or told so far. */
  messages(): (Answer & Partial<Notification>)[] {
    return this.stdout
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  /** Makes a call over standard input and output. */
  async call(
    method: string,
    params?: unknown,
    id: string | number = `${method} ${Math.random()}`,
  ): Promise<Answer> {
    this.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return this.answerTo(id);
  }

  answerTo(id: string | number | null): Promise<Answer> {
    return this.until(() =>
      this.messages().find((message) => message.method === undefined && message.id === id),
    );
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Ends it, however it is doing. */
  async end(): Promise<void> {
    if (this.#running) this.#child.kill("SIGKILL");
    await this.exited;
  }

  /** Waits until something shows in what it wrote. Fails when it ends first. */
  until<T>(look: () => T | undefined, withinMs = 20_000): Promise<T> {
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        clearTimeout(timer);
        this.#watchers.delete(watch);
        settle();
      };
      const told = () => `\n--- stdout\n${this.stdout.slice(-2000)}\n--- stderr\n${this.stderr.slice(-2000)}`;
      const timer = setTimeout(() => end(() => reject(new Error(`waited in vain${told()}`))), withinMs);
      const watch = () => {
        const found = look();
        if (found !== undefined) end(() => resolve(found));
        else if (!this.#running) end(() => reject(new Error(`it has ended${told()}`)));
      };
      this.#watchers.add(watch);
      watch();
    });
  }

  #wake(): void {
    for (const watch of [...this.#watchers]) watch();
  }
}
