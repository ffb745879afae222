import { type ChildGiven, ChildProblem, LineChild } from "../../../base/index.js";
import type { FailureCode } from "../../failure.js";
import { ProgramProblem } from "../program.js";
import { messageSchema } from "./protocol.js";

/** So many lines in a row that can't be understood, and it is another program. */
const MOST_GARBAGE = 200;

/** What is told of the other side. None may throw. */
export interface PeerEars {
  notified(method: string, params: unknown): void;
  /** Asked by it. A rejection is answered as an error. */
  asked(method: string, params: unknown): Promise<unknown>;
  /** A line that is no message. */
  garbage(line: string): void;
  over(problem: string | undefined): void;
}

/** The program answered with an error. */
export class PeerError extends Error {}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** A child that speaks JSON-RPC in lines. Whatever is awaited from it rejects with a `ProgramProblem` when it is gone. */
export class Peer {
  readonly #child: LineChild;
  readonly #ears: PeerEars;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #garbage = 0;
  #gone: ProgramProblem | undefined;
  #code: FailureCode = "program.exited";

  constructor(given: ChildGiven, ears: PeerEars) {
    this.#ears = ears;
    this.#child = new LineChild(given, {
      line: (text) => this.#hear(text),
      over: (problem) => this.#over(problem),
    });
  }

  get isGone(): boolean {
    return this.#gone !== undefined || this.#child.problem !== undefined;
  }

  async start(): Promise<void> {
    try {
      await this.#child.start();
    } catch (error) {
      if (!(error instanceof ChildProblem)) throw error;
      if (error.code === "ENOENT") throw new ProgramProblem("program.missing", "is not there");
      throw new ProgramProblem("program.no_start", error.message);
    }
  }

  request(method: string, params: object): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      if (!this.#send({ id, method, params })) this.#waiting.delete(id) && reject(this.loss);
    });
  }

  notify(method: string): void {
    this.#send({ method });
  }

  end(how: "politely" | "now"): Promise<void> {
    return this.#child.endAll(how);
  }

  #send(message: object): boolean {
    try {
      this.#child.send(JSON.stringify(message));
      return true;
    } catch (error) {
      if (error instanceof ChildProblem) return false;
      throw error;
    }
  }

  #hear(line: string): void {
    if (line.trim() === "") return;
    const message = messageSchema.safeParse(parsed(line)).data;
    if (!message) {
      this.#hearGarbage(line);
      return;
    }
    this.#garbage = 0;
    const { id, method, params } = message;
    if (method === undefined) this.#answered(message);
    else if (id === undefined) this.#ears.notified(method, params);
    else this.#answer(id, this.#ears.asked(method, params));
  }

  #answer(id: string | number, answer: Promise<unknown>): void {
    answer.then(
      (result) => this.#send({ id, result }),
      (error: Error) => this.#send({ id, error: { code: -32_601, message: error.message } }),
    );
  }

  #answered({
    id,
    result,
    error,
  }: {
    id?: unknown;
    result?: unknown;
    error?: { message: string } | undefined;
  }): void {
    const waiting = this.#waiting.get(id as number);
    this.#waiting.delete(id as number);
    if (error) waiting?.reject(new PeerError(error.message));
    else waiting?.resolve(result);
  }

  #hearGarbage(line: string): void {
    this.#garbage += 1;
    if (this.#garbage <= MOST_GARBAGE) {
      this.#ears.garbage(line);
      return;
    }
    this.#code = "program.unintelligible";
    this.#child.giveUp("says nothing that can be understood");
  }

  #over(problem: string | undefined): void {
    const words = withoutColours(this.#child.lastWords);
    const said = words === "" ? "" : `. Its last words: ${words}`;
    this.#gone = new ProgramProblem(this.#code, `${problem ?? "was stopped"}${said}`);
    for (const { reject } of this.#waiting.values()) reject(this.#gone);
    this.#waiting.clear();
    this.#ears.over(problem);
  }

  /** Why it is not there any more. */
  get loss(): ProgramProblem {
    return this.#gone ?? new ProgramProblem(this.#code, this.#child.problem ?? "is not there any more");
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** What is left of them once their escape characters have become blanks. */
function withoutColours(words: string): string {
  return words
    .replace(/\[\d+(?:;\d+)*m/g, "")
    .replace(/ {2,}/g, " ")
    .trim();
}
