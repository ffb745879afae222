import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client";
import { endGroup, endGroupWithUs, groupLives, HAS_GROUPS } from "../../base/index.js";
import { Allowance } from "./allowance.js";
import { LineCutter } from "./lines.js";
import { McpProblem } from "./problem.js";
import type { McpSdk } from "./sdk.js";
import { WordTail } from "./word-tail.js";

const MOST_MESSAGE = 16 * 1024 * 1024;
const MOST_UNSENT = 64 * 1024 * 1024;
const MOST_GARBAGE = 1_000;
const LEAVE_MS = 400;
const GRACE_MS = 900;

export interface ChildGiven {
  readonly command: string;
  readonly args: readonly string[];
  /** All of the environment it sees. */
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
}

/** A server that is a program of ours, in a process group of its own. When it has closed, nothing of that group is left. */
export class ChildTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  readonly #sdk: McpSdk;
  readonly #given: ChildGiven;
  readonly #said = new WordTail();
  readonly #lines = new LineCutter(MOST_MESSAGE);
  #child: ChildProcessWithoutNullStreams | undefined;
  #callOffGuard = () => {};
  #garbage = 0;
  #problem: string | undefined;
  #ending: Promise<void> | undefined;

  constructor(sdk: McpSdk, given: ChildGiven) {
    this.#sdk = sdk;
    this.#given = given;
  }

  /** Why it is not there any more, and the end of what it wrote to its standard error. */
  problem(): string | undefined {
    if (this.#problem === undefined) return undefined;
    const said = this.#said.text();
    return said === "" ? this.#problem : `${this.#problem}. It said: ${said}`;
  }

  start(): Promise<void> {
    return new Promise((resolve, reject) => {
      const { command, args, env, cwd } = this.#given;
      try {
        const options = { env, cwd, stdio: "pipe", detached: HAS_GROUPS, windowsHide: true } as const;
        this.#child = spawn(command, args, options);
      } catch (error) {
        reject(notStarted(error));
        return;
      }
      const child = this.#child;
      child.once("error", (error) => {
        reject(notStarted(error));
        if (child.pid === undefined) this.#over();
      });
      child.once("spawn", () => {
        this.#callOffGuard = endGroupWithUs(child.pid as number);
        resolve();
      });
      child.once("exit", (code, signal) => void this.#left(code, signal));
      child.stdin.on("error", () => {});
      const heard = new Allowance();
      listen(child.stdout, heard, (chunk) => this.#hear(chunk));
      listen(child.stderr, heard, (chunk) => {
        this.#said.add(chunk);
        return 0;
      });
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable) throw new McpProblem("is not there any more");
    if (stdin.writableLength > MOST_UNSENT) throw new McpProblem("does not read what it is sent");
    stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Asked by the end of its input, then by a signal, then made to. */
  close(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    child.stdin.end();
    await exitOf(child, LEAVE_MS);
    if (groupLives(child.pid) || isRunning(child)) await endGroup(child.pid, GRACE_MS);
    await exitOf(child, LEAVE_MS);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    this.#over();
  }

  /** It has ended by itself. What it said last may still be in its pipes, and what it started may still run. */
  async #left(code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    // One that we ended has no problem of its own.
    if (this.#ending === undefined) {
      this.#problem ??= signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`;
    }
    const child = this.#child as ChildProcessWithoutNullStreams;
    await closeOf(child, LEAVE_MS);
    await this.close();
  }

  #over(): void {
    this.#callOffGuard();
    this.#callOffGuard = () => {};
    const told = this.onclose;
    delete this.onclose;
    told?.();
  }

  /** Answers how many lines it heard. */
  #hear(chunk: Buffer): number {
    if (this.#problem !== undefined && this.#ending !== undefined) return 0;
    const lines = this.#lines.add(chunk);
    if (lines === undefined) {
      this.#giveUp(`sent a message of more than ${MOST_MESSAGE / 1024 / 1024} MiB`);
      return 0;
    }
    for (const line of lines) this.#take(line.trim());
    return lines.length;
  }

  #take(line: string): void {
    if (line === "") return;
    let message: JSONRPCMessage;
    try {
      message = this.#sdk.deserializeMessage(line);
    } catch {
      this.#garbage += 1;
      if (this.#garbage > MOST_GARBAGE) {
        this.#giveUp("writes lines to its standard output that are no messages of the protocol");
      }
      return;
    }
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }

  #giveUp(problem: string): void {
    this.#problem ??= problem;
    this.close().catch(() => {});
  }
}

/** Reads no faster than the allowance permits: what waits in the pipe keeps the writer waiting, and nobody else. */
function listen(
  stream: Readable,
  allowance: Allowance,
  /** Answers how many lines it was. */
  take: (chunk: Buffer) => number,
): void {
  stream.on("error", () => {});
  stream.on("data", (chunk: Buffer) => {
    const wait = allowance.take(chunk.length, take(chunk));
    if (wait === 0) return;
    stream.pause();
    setTimeout(() => stream.resume(), wait).unref();
  });
}

function isRunning({ exitCode, signalCode }: ChildProcessWithoutNullStreams): boolean {
  return exitCode === null && signalCode === null;
}

function exitOf(child: ChildProcessWithoutNullStreams, withinMs: number): Promise<void> {
  if (!isRunning(child)) return Promise.resolve();
  return eventOf(child, "exit", withinMs);
}

function closeOf(child: ChildProcessWithoutNullStreams, withinMs: number): Promise<void> {
  if (child.stdout.closed && child.stderr.closed) return Promise.resolve();
  return eventOf(child, "close", withinMs);
}

function eventOf(child: ChildProcessWithoutNullStreams, event: string, withinMs: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, withinMs);
    child.once(event, () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function notStarted(error: unknown): McpProblem {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") {
    return new McpProblem("can't be started: its command or its cwd is not there. Look at both");
  }
  return new McpProblem(`can't be started${code === undefined ? "" : ` (${code})`}`);
}
