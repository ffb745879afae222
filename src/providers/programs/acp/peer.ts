import { BEYOND_US, ChildProblem, LineChild, onOneLine } from "../../../base/index.js";
import type { Redact } from "../../http/redact.js";
import type { WorkPlace } from "../../provider.js";
import type { ProgramConfig } from "../config.js";
import { ProgramProblem } from "../program.js";
import { redactorFor } from "../say.js";

/** An agent's own refusal of a request. */
export class Refusal extends Error {
  readonly code: number;

  constructor(code: number, words: string) {
    super(words);
    this.code = code;
  }
}

/** Who hears what an agent says by itself. Neither may throw. */
export interface PeerEars {
  notified(method: string, params: unknown): void;
  /** Undefined: such a thing can't be asked here. */
  asked(method: string, params: unknown): Promise<object> | undefined;
  /** A line that is no message. */
  stray(text: string): void;
  over(problem: string | undefined): void;
}

interface PeerGiven extends Omit<ProgramConfig, "timeouts"> {
  readonly cwd: string;
  /** Of the bridge: none of its words may hold it. */
  readonly bridge: WorkPlace["bridge"];
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** So many lines that are no messages, before the first that is one, and it is not an agent of this protocol. */
const MOST_STRAYS = 500;
const MOST_WORDS = 2_000;
const NOT_FOUND = -32601;

/** JSON-RPC with an agent, a message a line. Answers find their questions by id, in whatever order they come. */
export class Peer {
  readonly #child: LineChild;
  readonly #ears: PeerEars;
  readonly #redact: Redact;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #strays = 0;
  #understood = false;
  #broken: ProgramProblem | undefined;

  constructor(config: PeerGiven, ears: PeerEars) {
    this.#ears = ears;
    this.#redact = redactorFor(config, config.bridge);
    this.#child = new LineChild(config, {
      line: (text) => this.#hear(text),
      over: (problem) => this.#over(problem),
    });
  }

  /** Known as soon as it has ended, before what it left behind is ended too. */
  get isGone(): boolean {
    return this.#broken !== undefined || this.#child.problem !== undefined;
  }

  async start(): Promise<void> {
    try {
      await this.#child.start();
    } catch (error) {
      const code = (error as ChildProblem).code === "ENOENT" ? "program.missing" : "program.no_start";
      throw new ProgramProblem(code, (error as Error).message);
    }
  }

  /** Rejects with a `Refusal`, or with a `ProgramProblem` when the agent is gone. */
  request(method: string, params: object): Promise<unknown> {
    if (this.#broken) return Promise.reject(this.#broken);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  notify(method: string, params: object): void {
    if (!this.#broken) this.#send({ method, params });
  }

  /** In one line, without secrets. */
  words(text: string): string {
    return onOneLine(this.#redact(text)).slice(0, MOST_WORDS);
  }

  end(how: "politely" | "now"): Promise<void> {
    return this.#child.endAll(how);
  }

  #send(message: object): void {
    try {
      this.#child.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
    } catch (error) {
      if (!(error instanceof ChildProblem)) throw error;
      // What it said last is known only when it is over.
      this.#child.giveUp(error.message);
    }
  }

  #hear(line: string): void {
    if (line.trim() === "") return;
    const message = messageOf(line);
    if (!message) {
      this.#stray(line);
      return;
    }
    this.#understood = true;
    const { id, method } = message;
    if (typeof method !== "string") this.#answered(message);
    else if (id === undefined || id === null) this.#ears.notified(method, message.params);
    else this.#answer(id, method, message.params);
  }

  #answer(id: unknown, method: string, params: unknown): void {
    const answer = this.#ears.asked(method, params);
    if (!answer) {
      this.#send({ id, error: { code: NOT_FOUND, message: `"${method}" is not offered` } });
      return;
    }
    answer
      .then((result) => {
        if (!this.#broken) this.#send({ id, result });
      })
      // Nobody would know of it: what it asked for can't even be answered.
      .catch(() => this.#child.giveUp(BEYOND_US));
  }

  #answered({ id, result, error }: Message): void {
    const waiting = typeof id === "number" ? this.#waiting.get(id) : undefined;
    // An answer to nothing, or a second one to the same question.
    if (!waiting) return;
    this.#waiting.delete(id as number);
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(refusalOf(error, (text) => this.words(text)));
  }

  #stray(line: string): void {
    this.#strays += 1;
    this.#ears.stray(this.words(line));
    if (this.#understood || this.#strays < MOST_STRAYS) return;
    this.#break(new ProgramProblem("program.unintelligible", "says nothing that is a message of ACP"));
    this.#child.giveUp("says nothing that is a message of ACP");
  }

  #over(problem: string | undefined): void {
    const last = this.words(this.#child.lastWords);
    const words = `${problem ?? "was ended"}${last === "" ? "" : `: ${last}`}`;
    this.#break(new ProgramProblem("program.exited", words));
    this.#ears.over(problem);
  }

  #break(problem: ProgramProblem): void {
    this.#broken ??= problem;
    for (const { reject } of this.#waiting.values()) reject(this.#broken);
    this.#waiting.clear();
  }
}

interface Message {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** Undefined: no message. An object that is neither a question nor an answer is none either. */
function messageOf(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
    return "method" in value || "id" in value ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Agents put what went wrong into the message or beside it. */
function refusalOf(error: unknown, say: (text: string) => string): Refusal {
  const { code, message, data } = (typeof error === "object" && error ? error : {}) as Record<
    string,
    unknown
  >;
  const { details } = (typeof data === "object" && data ? data : {}) as Record<string, unknown>;
  const said = [message, details ?? data].filter((one) => typeof one === "string" && one !== "");
  return new Refusal(typeof code === "number" ? code : 0, say(said.join(": ") || "no reason is given"));
}
