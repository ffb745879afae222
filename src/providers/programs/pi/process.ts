import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ChildProblem, LineChild } from "../../../base/index.js";
import type { WorkPlace } from "../../provider.js";
import type { ProgramConfig } from "../config.js";
import { ProgramProblem } from "../program.js";
import { type Say, sayer } from "../say.js";
import { environment } from "./arguments.js";
import { EXTENSION } from "./extension.js";
import { exitProblem, toldProblem } from "./failure.js";
import { type Fields, fieldsOf, lineFields, textIn } from "./fields.js";

/** So many lines in a row that are no message are no accident any more. */
const MOST_GARBAGE = 200;

interface Asked {
  resolve(data: Fields): void;
  reject(problem: ProgramProblem): void;
}

/** What is told of the process, between its start and its end. */
interface Ears {
  event(event: Fields): void;
  diagnostic(text: string): void;
  over(problem: ProgramProblem): void;
}

/** `pi --mode rpc` with our extension: requests and their answers by id, everything else as events. */
export class PiProcess {
  readonly #config: ProgramConfig;
  readonly #directory: string;
  readonly #child: (args: readonly string[]) => LineChild;
  readonly #asked = new Map<string, Asked>();
  readonly #ears: Ears;
  readonly say: Say;
  #running: LineChild | undefined;
  #scratch: string | undefined;
  #forgetting: Promise<void> | undefined;
  #ended = false;
  #garbage = 0;
  #count = 0;
  problem: ProgramProblem | undefined;

  constructor(config: ProgramConfig, { directory, bridge }: WorkPlace, ears: Ears) {
    this.#config = config;
    this.#directory = directory;
    this.#ears = ears;
    this.say = sayer(config, bridge);
    const given = { command: config.command, env: environment(config), cwd: directory };
    this.#child = (args) =>
      new LineChild(
        { ...given, args, scratch: this.#scratch },
        { line: (line) => this.#hear(line), over: (words) => this.#over(words) },
      );
  }

  get isThere(): boolean {
    const { pid, problem } = this.#running ?? {};
    return pid !== undefined && problem === undefined && !this.#ended && this.problem === undefined;
  }

  get lastWords(): string {
    return this.#running?.lastWords ?? "";
  }

  async start(args: readonly string[]): Promise<void> {
    this.#scratch = await mkdtemp(join(tmpdir(), "heddle-pi-"));
    const extension = join(this.#scratch, "heddle.ts");
    await writeFile(extension, EXTENSION, { mode: 0o600 });
    if (this.#ended) {
      await this.forgetExtension();
      throw new ProgramProblem("program.exited", "was ended before it began");
    }
    this.#running = this.#child([...this.#config.args, ...args, "-e", extension]);
    try {
      await this.#running.start();
    } catch (error) {
      await this.forgetExtension();
      throw this.#notStarted(error);
    }
  }

  /** It is read once, at the start. */
  async forgetExtension(): Promise<void> {
    const scratch = this.#scratch;
    if (scratch === undefined) return;
    this.#forgetting ??= rm(scratch, { recursive: true, force: true });
    await this.#forgetting;
  }

  /** What comes of a command; rejects when pi refuses it, or is gone. */
  request(command: Fields): Promise<Fields> {
    return new Promise((resolve, reject) => {
      if (this.problem) return reject(this.problem);
      this.#count += 1;
      const id = `heddle-${this.#count}`;
      this.#asked.set(id, { resolve, reject });
      this.send({ id, ...command });
    });
  }

  send(message: Fields): void {
    try {
      this.#running?.send(JSON.stringify(message));
    } catch (error) {
      // One that has gone is told by its end, with its last words.
      if (this.isThere) this.#fail(new ProgramProblem("program.exited", (error as Error).message));
    }
  }

  async end(how: "politely" | "now"): Promise<void> {
    this.#ended = true;
    await this.#running?.endAll(how);
    await this.forgetExtension();
  }

  #hear(line: string): void {
    const message = lineFields(line);
    if (!message) {
      this.#garbage += 1;
      if (this.#garbage > MOST_GARBAGE) this.#giveUp(line);
      else if (line.trim() !== "") this.#ears.diagnostic(this.say(line));
      return;
    }
    this.#garbage = 0;
    const asked = message.type === "response" && this.#asked.get(textIn(message.id));
    if (asked) this.#answer(asked, message);
    else this.#ears.event(message);
  }

  #answer(asked: Asked, message: Fields): void {
    this.#asked.delete(textIn(message.id));
    if (message.success === true) asked.resolve(fieldsOf(message.data) ?? {});
    else asked.reject(toldProblem(this.say(textIn(message.error))));
  }

  #giveUp(line: string): void {
    if (this.problem) return;
    const words = `says nothing that can be understood, such as "${this.say(line).slice(0, 100)}"`;
    this.#fail(new ProgramProblem("program.unintelligible", words));
    this.#running?.giveUp("talks nonsense");
  }

  #over(words: string | undefined): void {
    this.#fail(exitProblem(words, this.say(this.lastWords)));
    this.forgetExtension().catch(() => {});
    this.#ears.over(this.problem as ProgramProblem);
  }

  #fail(problem: ProgramProblem): void {
    this.problem ??= problem;
    for (const { reject } of this.#asked.values()) reject(this.problem);
    this.#asked.clear();
  }

  #notStarted(error: unknown): ProgramProblem {
    const { code, message } = error as ChildProblem;
    if (!(error instanceof ChildProblem)) throw error;
    if (!existsSync(this.#directory)) {
      return new ProgramProblem("program.no_start", "can't be started: its directory is not there");
    }
    if (code !== "ENOENT") return new ProgramProblem("program.no_start", message);
    return new ProgramProblem("program.missing", `there is no program "${this.#config.command}"`);
  }
}
