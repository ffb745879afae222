import type { FinishReason } from "../../provider.js";
import { ProgramProblem, type Tell, type Turn } from "../program.js";
import { jsonText } from "../say.js";
import { Answer } from "./answer.js";
import { type Fields, fieldsOf, lineFields, textIn } from "./fields.js";
import { offerOf } from "./offer.js";
import { diffsOf, isHarmless, type Place } from "./own-calls.js";
import type { PiProcess } from "./process.js";
import { promptOf } from "./prompt.js";

/** Asked again after so long when pi says that it is busy, though nothing follows. */
const STILL_BUSY_MS = 50;

const ENDS = new Set(["agent_end", "compaction_end", "auto_retry_end"]);

interface Parties {
  readonly process: PiProcess;
  readonly turn: Turn;
  readonly tell: Tell;
  readonly home: string | undefined;
}

/** One prompt, until pi has nothing more to do for it: it may try again, or make room, after it said that it has ended. */
export class Asking {
  readonly #to: Parties;
  readonly #answer: Answer;
  readonly #ended: Promise<FinishReason>;
  #resolve: (reason: FinishReason) => void = () => {};
  #reject: (problem: Error) => void = () => {};
  #offered = false;
  #told = false;
  #nothingFollows = false;
  #beginnings = 0;

  constructor(to: Parties) {
    this.#to = to;
    const names = new Map(offerOf(to.turn).tools.map(({ name, as }) => [name, as]));
    const nameOf = (name: string) => names.get(name) ?? name;
    this.#answer = new Answer({ tell: to.tell, say: to.process.say, nameOf });
    this.#ended = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  run(): Promise<FinishReason> {
    const prompt = promptOf(this.#to.turn);
    this.#to.process.request(prompt).then(
      () => this.#accepted(prompt.message),
      (problem) => this.fail(problem),
    );
    return this.#ended;
  }

  /** Answers the extension, which asks once for each turn, and may do so when the one before ends. */
  offer(request: Fields): boolean {
    if (this.#offered) {
      this.#nothingFollows = askedIn(request)?.over === true;
      return false;
    }
    this.#offered = true;
    const { process, turn } = this.#to;
    process.send(reply(request, { value: JSON.stringify(offerOf(turn)) }));
    return true;
  }

  fail(problem: Error): void {
    this.#reject(problem);
  }

  diagnostic(text: string): void {
    this.#to.tell({ type: "diagnostic", text });
  }

  event(event: Fields): void {
    const { type } = event;
    if (type === "extension_ui_request") this.#dialog(event);
    else if (type === "extension_error") this.#extensionFailed(event);
    else if (type === "agent_start") this.#begins();
    // What is still said of the turn before does not end this one.
    else if (!this.#told) return;
    else if (type === "auto_retry_start") this.#goesOn(`pi tries again: ${textIn(event.errorMessage)}`);
    else if (type === "compaction_start") this.#goesOn("pi summarises what was said, to make room");
    else if (type === "agent_settled") this.#over();
    else if (ENDS.has(textIn(type))) this.#ends(event);
    else this.#answer.take(event);
  }

  #goesOn(words: string): void {
    this.#beginnings += 1;
    this.diagnostic(this.#to.process.say(words));
  }

  #ends({ willRetry, success }: Fields): void {
    if (this.#nothingFollows) this.#over();
    else if (willRetry !== true && success !== true) this.#lookWhetherOver();
  }

  /** A text that begins with a slash may be a command of an extension that the configuration has added. */
  #accepted(message: string): void {
    if (this.#told || !message.startsWith("/")) return;
    this.#state((busy) => {
      if (this.#told || busy) return;
      this.fail(new ProgramProblem("program.failed", "took the message for a command of its own"));
    });
  }

  #begins(): void {
    this.#beginnings += 1;
    if (this.#told) return;
    const words = "began without its instructions: this version does not ask Heddle's extension for them";
    this.fail(new ProgramProblem("program.unintelligible", words));
  }

  /** What follows from an end is told before the answer to what is asked after it. */
  #lookWhetherOver(): void {
    const beginnings = this.#beginnings;
    this.#state((busy) => {
      if (beginnings !== this.#beginnings) return;
      if (busy) setTimeout(() => this.#lookWhetherOver(), STILL_BUSY_MS).unref();
      else this.#over();
    });
  }

  #state(then: (busy: boolean) => void): void {
    this.#to.process.request({ type: "get_state" }).then(
      ({ isStreaming, isCompacting }) => then(isStreaming === true || isCompacting === true),
      (problem) => this.fail(problem),
    );
  }

  #over(): void {
    try {
      this.#resolve(this.#answer.finish());
    } catch (problem) {
      this.fail(problem as Error);
    }
  }

  #extensionFailed({ event, error }: Fields): void {
    const words = this.#to.process.say(textIn(error));
    const problem = `could not take over its instructions and tools: ${words}`;
    if (event === "before_agent_start") this.fail(new ProgramProblem("program.failed", problem));
    else this.diagnostic(words);
  }

  #dialog(request: Fields): void {
    const { process } = this.#to;
    const asked = askedIn(request);
    if (request.statusKey === "heddle") {
      this.#told = true;
    } else if (asked?.what === "may") {
      void this.#decide(asked).then((value) => process.send(reply(request, { value })));
    } else if (request.method === "notify") {
      this.diagnostic(process.say(textIn(request.message)));
    } else {
      refuse(process, request);
    }
  }

  async #decide({ id, name, input }: Fields): Promise<"allow" | "deny"> {
    const { turn, home } = this.#to;
    const call = { id: textIn(id), name: textIn(name) };
    const given = fieldsOf(input) ?? {};
    const place: Place = { directory: turn.work.directory, home };
    try {
      if (!(await isHarmless(call.name, given, place))) {
        const answer = await turn.work.ask({ ...call, arguments: jsonText(given) });
        if (answer === "deny") return "deny";
      }
      this.#answer.allowed(call.id, await diffsOf(call.name, given, place));
      return "allow";
    } catch {
      // Nobody said yes.
      return "deny";
    }
  }
}

/** What our extension asks for. */
export function askedIn({ title, placeholder }: Fields): Fields | undefined {
  return title === "heddle" ? lineFields(textIn(placeholder)) : undefined;
}

const DIALOGS = new Set(["select", "confirm", "input", "editor"]);

/** Nobody is there to answer another extension. */
export function refuse(process: PiProcess, request: Fields): void {
  if (DIALOGS.has(textIn(request.method))) process.send(reply(request, { cancelled: true }));
}

function reply({ id }: Fields, answer: Fields): Fields {
  return { type: "extension_ui_response", id, ...answer };
}
