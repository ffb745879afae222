import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import type { Readable } from "node:stream";
import { randomSecret } from "./ids.js";
import { endGroup, endGroupWithUs, endMarked, groupLives, HAS_GROUPS } from "./process-group.js";

const MOST_LINE = 16 * 1024 * 1024;
const MOST_UNSENT = 64 * 1024 * 1024;
const LEAVE_MS = 400;
const GRACE_MS = 900;
const NOW_GRACE_MS = 300;

/** It wrote what whoever listens failed at, in words that complete "it …". */
export const BEYOND_US = "said what can't be understood";

export interface ChildGiven {
  readonly command: string;
  readonly args: readonly string[];
  /** All of the environment it sees. */
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** A directory that goes with it when we die. */
  readonly scratch?: string | undefined;
}

/** What is told of a child. */
export interface ChildEars {
  /** A whole line of its standard output, without its end. When it throws the child is ended. */
  line(text: string): void;
  /** Nothing of its group is left. Undefined: it was ended by us. May not throw. */
  over(problem: string | undefined): void;
}

/** How long a child is given: to leave when its input ends, then to obey a signal. */
export interface ChildPatience {
  readonly leaveMs: number;
  readonly graceMs: number;
}

/** A program that could not be started, spoke too long a line, or does not read, in words that complete "it …". */
export class ChildProblem extends Error {
  readonly code: string | undefined;

  constructor(problem: string, code?: string) {
    super(problem);
    this.code = code;
  }
}

/** A program of ours that talks in lines, in a process group of its own. When it is over, nothing of that group is left. */
export class LineChild {
  readonly #given: ChildGiven;
  readonly #ears: ChildEars;
  /** By which what it starts is found, wherever that has gone. */
  readonly #mark = randomSecret();
  readonly #said = new WordTail();
  readonly #lines = new LineCutter(MOST_LINE);
  #child: ChildProcessWithoutNullStreams | undefined;
  #callOffGuard = () => {};
  #problem: string | undefined;
  #ending: Promise<void> | undefined;
  #isOver = false;

  constructor(given: ChildGiven, ears: ChildEars) {
    this.#given = given;
    this.#ears = ears;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Why it is not there any more; undefined as long as it is, and when we ended it. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** The end of what it wrote to its standard error, on one line. */
  get lastWords(): string {
    return this.#said.text();
  }

  /** Rejects with a `ChildProblem` when it can't be started. */
  start(): Promise<void> {
    // Nobody would end what is started now.
    if (this.#ending) return Promise.reject(new ChildProblem("was ended before it began"));
    return new Promise((resolve, reject) => {
      const { command, args, env, cwd } = this.#given;
      try {
        const seen = { ...env, HEDDLE_CHILD: this.#mark };
        const options = { env: seen, cwd, stdio: "pipe", detached: HAS_GROUPS, windowsHide: true } as const;
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
        this.#callOffGuard = endGroupWithUs(child.pid as number, {
          mark: this.#mark,
          scratch: this.#given.scratch,
        });
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

  send(line: string): void {
    const stdin = this.#child?.stdin;
    if (!stdin?.writable) throw new ChildProblem("is not there any more");
    if (stdin.writableLength > MOST_UNSENT) throw new ChildProblem("does not read what it is sent");
    stdin.write(`${line}\n`);
  }

  /** Nothing more is said to it. */
  endInput(): void {
    this.#child?.stdin.end();
  }

  /** Ends it because of what it did. */
  giveUp(problem: string): void {
    this.#problem ??= problem;
    this.end().catch(() => {});
  }

  /** Asked by the end of its input, then by a signal, then made to. */
  end({ leaveMs, graceMs }: ChildPatience = { leaveMs: LEAVE_MS, graceMs: GRACE_MS }): Promise<void> {
    this.#ending ??= this.#end(leaveMs, graceMs);
    return this.#ending;
  }

  /** The same with everything that it has started and that has left its group; `now`: within a second. */
  async endAll(how: "politely" | "now"): Promise<void> {
    // Only when it has ended itself does nobody start anything more.
    await this.end(how === "now" ? { leaveMs: 0, graceMs: NOW_GRACE_MS } : undefined);
    await endMarked(this.#mark);
  }

  async #end(leaveMs: number, graceMs: number): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined) return;
    // One that is ended at once hears the signal first: at the end of its input it may leave what it started behind.
    if (leaveMs > 0) {
      child.stdin.end();
      await exitOf(child, leaveMs);
    }
    if (groupLives(child.pid) || isRunning(child)) await endGroup(child.pid, graceMs);
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
    await closeOf(this.#child as ChildProcessWithoutNullStreams, LEAVE_MS);
    await this.endAll("politely");
  }

  #over(): void {
    this.#callOffGuard();
    this.#callOffGuard = () => {};
    if (this.#isOver) return;
    this.#isOver = true;
    this.#ears.over(this.#problem);
  }

  /** Answers how many lines it heard. */
  #hear(chunk: Buffer): number {
    if (this.#problem !== undefined && this.#ending !== undefined) return 0;
    const lines = this.#lines.add(chunk);
    if (lines === undefined) {
      this.giveUp(`sent a message of more than ${MOST_LINE / 1024 / 1024} MiB`);
      return 0;
    }
    try {
      for (const line of lines) this.#ears.line(line);
    } catch {
      // Whatever another program writes, nobody but itself ends with it.
      this.giveUp(BEYOND_US);
    }
    return lines.length;
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

function notStarted(error: unknown): ChildProblem {
  const { code } = error as NodeJS.ErrnoException;
  return code === "ENOENT"
    ? new ChildProblem("can't be started: its command or its cwd is not there. Look at both", code)
    : new ChildProblem(`can't be started${code === undefined ? "" : ` (${code})`}`, code);
}

/** Cuts a stream of bytes into lines, of which none is longer than a limit. */
class LineCutter {
  readonly #most: number;
  #begun: Buffer[] = [];
  #length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** The lines that are whole now; undefined when one is too long: whatever follows can't be understood any more. */
  add(chunk: Buffer): string[] | undefined {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const last = chunk.subarray(from, end);
      if (this.#length + last.length > this.#most) return undefined;
      lines.push(Buffer.concat([...this.#begun, last]).toString("utf8"));
      this.#begun = [];
      this.#length = 0;
      from = end + 1;
    }
    const rest = chunk.subarray(from);
    if (rest.length > 0) this.#begun.push(rest);
    this.#length += rest.length;
    return this.#length > this.#most ? undefined : lines;
  }
}

const MOST_WORDS = 2_048;

/** The end of what a program wrote, on one line: bounded, however much it is. */
class WordTail {
  #bytes: Buffer = Buffer.alloc(0);

  add(chunk: Buffer): void {
    // A copy: a piece of the chunk would keep all of it in memory.
    this.#bytes = Buffer.from(
      Buffer.concat([this.#bytes, chunk.subarray(-MOST_WORDS)]).subarray(-MOST_WORDS),
    );
  }

  text(): string {
    // A cut may fall inside a character, whose rest can't be read.
    return onOneLine(this.#bytes.toString("utf8").replace(/^\uFFFD{1,3}/, ""));
  }
}

export function onOneLine(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim();
}

const BYTES = { burst: 32 * 1024 * 1024, perMs: 8 * 1024 };
/** A line costs more than its bytes: it has to be read and understood. */
const LINES = { burst: 2_000, perMs: 2 };

/** How much another program may say in which time. One that talks without end then waits in its pipe, and nobody else does. */
export class Allowance {
  #bytes = BYTES.burst;
  #lines = LINES.burst;
  #at = performance.now();

  /** Answers the milliseconds to wait before anything more is read. */
  take(bytes: number, lines = 0): number {
    const now = performance.now();
    const passed = now - this.#at;
    this.#at = now;
    this.#bytes = Math.min(BYTES.burst, this.#bytes + passed * BYTES.perMs) - bytes;
    this.#lines = Math.min(LINES.burst, this.#lines + passed * LINES.perMs) - lines;
    return Math.ceil(Math.max(0, -this.#bytes / BYTES.perMs, -this.#lines / LINES.perMs));
  }
}
