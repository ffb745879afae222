import { existsSync } from "node:fs";
import { ChildProblem, LineChild } from "../../../base/index.js";
import type { ProgramConfig } from "../config.js";
import { ProgramProblem, type Turn } from "../program.js";
import { type Say, sayer } from "../say.js";
import { exitProblem, toldProblem } from "./failure.js";
import { type Line, readLine } from "./lines.js";
import { argumentsOf, environmentOf } from "./options.js";
import { forgetScratch, makeScratch } from "./scratch.js";

/** So many lines in a row that are none of its own are no accident any more. */
const MOST_GARBAGE = 200;

export interface ProcessEars {
  line(line: Line): void;
  diagnostic(text: string): void;
  /** Undefined: we ended it. */
  over(problem: string | undefined): void;
}

interface Waiting {
  resolve(answer: unknown): void;
  reject(problem: Error): void;
}

/** A running Claude Code: its lines, and control requests with their answers. */
export class ClaudeProcess {
  readonly say: Say;
  readonly #turn: Turn;
  readonly #config: ProgramConfig;
  readonly #ears: ProcessEars;
  readonly #waiting = new Map<string, Waiting>();
  #child: LineChild | undefined;
  #scratch: string | undefined;
  #ending: Promise<void> | undefined;
  #problem: ProgramProblem | undefined;
  #garbage = 0;
  #requests = 0;
  #toldLast = "";

  constructor(turn: Turn, config: ProgramConfig, ears: ProcessEars) {
    this.#turn = turn;
    this.#config = config;
    this.#ears = ears;
    this.say = sayer(config, turn.work.bridge);
  }

  /** Why it can't be asked any more. */
  get problem(): ProgramProblem | undefined {
    return this.#problem;
  }

  get isThere(): boolean {
    const { pid, problem } = this.#child ?? {};
    return pid !== undefined && (problem ?? this.#ending ?? this.#problem) === undefined;
  }

  async start(): Promise<void> {
    const { command } = this.#config;
    const cwd = this.#turn.work.directory;
    const scratch = await makeScratch();
    this.#scratch = scratch;
    const given = {
      command,
      cwd,
      args: argumentsOf(this.#turn, this.#config),
      env: environmentOf(this.#turn, this.#config, scratch),
      scratch,
    };
    const child = new LineChild(given, {
      line: (text) => this.#hear(text),
      over: (problem) => this.#over(problem),
    });
    if (this.#ending) {
      await this.#sweep();
      throw exitProblem(undefined, "");
    }
    this.#child = child;
    try {
      await child.start();
    } catch (error) {
      await this.#sweep();
      throw notStarted(error, command, cwd);
    }
  }

  /** What it answers; rejects when it refuses, or is gone. */
  request(request: Record<string, unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#problem) return reject(this.#problem);
      this.#requests += 1;
      const id = `heddle-${this.#requests}`;
      this.#waiting.set(id, { resolve, reject });
      this.send(controlLine(id, request));
    });
  }

  send(line: string): void {
    try {
      this.#child?.send(line);
    } catch (error) {
      // One that has gone is told by its end, with its last words.
      if (this.isThere) this.giveUp(new ProgramProblem("program.exited", (error as Error).message));
    }
  }

  giveUp(problem: ProgramProblem): void {
    this.#problem ??= problem;
    this.end("now").catch(() => {});
  }

  end(how: "politely" | "now"): Promise<void> {
    this.#ending ??= this.#end(how);
    return this.#ending;
  }

  async #end(how: "politely" | "now"): Promise<void> {
    await this.#child?.endAll(how);
    await this.#sweep();
  }

  async #sweep(): Promise<void> {
    const scratch = this.#scratch;
    // What can't be removed now is removed a day later.
    if (scratch !== undefined) await forgetScratch(scratch).catch(() => {});
  }

  #hear(text: string): void {
    if (this.#problem) return;
    const line = readLine(text);
    if (line === undefined) {
      this.#hearGarbage(text);
      return;
    }
    this.#garbage = 0;
    if (line === "other") return;
    if (line.type === "result" && line.is_error) this.#toldLast = line.errors?.join(" ") ?? line.result ?? "";
    if (line.type === "control_response") this.#answered(line.response);
    else this.#ears.line(line);
  }

  #hearGarbage(text: string): void {
    const words = this.say(text);
    if (words !== "") this.#ears.diagnostic(words);
    this.#garbage += 1;
    if (this.#garbage < MOST_GARBAGE) return;
    const problem = `says what is no line of Claude Code, such as: ${words}`;
    this.giveUp(new ProgramProblem("program.unintelligible", problem));
  }

  #answered({ request_id, subtype, response, error }: Answer): void {
    const waiting = this.#waiting.get(request_id);
    this.#waiting.delete(request_id);
    if (subtype === "success") waiting?.resolve(response);
    else waiting?.reject(toldProblem(this.say(String(error ?? "refused a request"))));
  }

  #over(problem: string | undefined): void {
    const words = [this.#toldLast, this.#child?.lastWords ?? ""].filter((text) => text !== "");
    this.#problem ??= exitProblem(problem, this.say(words.join(" ")));
    for (const { reject } of this.#waiting.values()) reject(this.#problem);
    this.#waiting.clear();
    // What it has left behind goes with it, also when it has ended by itself.
    this.end("now").catch(() => {});
    this.#ears.over(problem);
  }
}

interface Answer {
  readonly request_id: string;
  readonly subtype: string;
  readonly response?: unknown;
  readonly error?: unknown;
}

export function controlLine(id: string, request: Record<string, unknown>): string {
  return JSON.stringify({ type: "control_request", request_id: id, request });
}

function notStarted(error: unknown, command: string, cwd: string): ProgramProblem {
  if (!(error instanceof ChildProblem)) throw error;
  if (error.code !== "ENOENT") return new ProgramProblem("program.no_start", error.message);
  return existsSync(cwd)
    ? new ProgramProblem("program.missing", `can't be started: there is no \`${command}\``)
    : new ProgramProblem("program.no_start", `can't be started: its directory ${cwd} is not there`);
}
