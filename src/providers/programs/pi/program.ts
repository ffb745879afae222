import type { FinishReason } from "../../provider.js";
import type { ProgramConfig } from "../config.js";
import {
  type Conversation,
  type Handover,
  type Program,
  ProgramProblem,
  SessionLost,
  type Tell,
  type Turn,
} from "../program.js";
import { startArguments } from "./arguments.js";
import { Asking, askedIn, refuse } from "./asking.js";
import { type Fields, numberIn, textIn } from "./fields.js";
import { PiProcess } from "./process.js";
import { handoverOf } from "./prompt.js";

export const pi: Program = {
  id: "pi-cli",
  converse: (turn, config) => new PiConversation(turn, config),
};

/** A path, or a flag, would be something else than the name of a session. */
const SESSION_ID = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;
const NOT_FOUND = /no session found|different project|session working directory/i;

/** `pi --mode rpc`: one process and one session. What a turn needs beside its message is asked for by our extension. */
class PiConversation implements Conversation {
  readonly #first: Turn;
  readonly #config: ProgramConfig;
  readonly #process: PiProcess;
  #session = "";
  /** Our extension waits for what it has to know of the next turn. */
  #waiting: Fields | undefined;
  #begun = false;
  #asking: Asking | undefined;
  onOver: Conversation["onOver"];

  constructor(first: Turn, config: ProgramConfig) {
    this.#first = first;
    this.#config = config;
    this.#process = new PiProcess(config, first.work, {
      event: (event) => this.#event(event),
      diagnostic: (text) => this.#asking?.diagnostic(text),
      over: (problem) => {
        this.#asking?.fail(problem);
        this.onOver?.(problem.message);
      },
    });
  }

  async open(): Promise<void> {
    const state = await this.#state();
    await this.#process.forgetExtension();
    if (!this.#waiting) {
      const words = "did not load Heddle's extension: this version is not known";
      throw new ProgramProblem("program.unintelligible", words);
    }
    this.#session = textIn(state.sessionId);
    const wanted = this.#first.session?.id;
    if (wanted === undefined) return;
    // A file that pi can't read becomes a new session, without a word.
    if (this.#session !== wanted || numberIn(state.messageCount) === 0) throw new SessionLost(wanted);
  }

  async #state(): Promise<Fields> {
    const wanted = this.#first.session?.id;
    if (wanted !== undefined && !SESSION_ID.test(wanted)) throw new SessionLost(wanted);
    try {
      await this.#process.start(startArguments(this.#first));
      return await this.#process.request({ type: "get_state" });
    } catch (error) {
      if (wanted !== undefined && NOT_FOUND.test(this.#process.lastWords)) throw new SessionLost(wanted);
      throw error;
    }
  }

  fits(turn: Turn): boolean {
    const same = turn.session?.id === this.#session && turn.work.directory === this.#first.work.directory;
    return same && this.#process.isThere && argumentsOf(turn) === argumentsOf(this.#first);
  }

  handover(turn: Turn): Handover {
    return handoverOf(turn, this.#config.command, this.#begun);
  }

  async ask(turn: Turn, tell: Tell): Promise<FinishReason> {
    const kept = this.#begun;
    this.#begun = true;
    let told = false;
    const telling: Tell = (event) => {
      told = true;
      tell(event);
    };
    const asking = new Asking({ process: this.#process, turn, tell: telling, home: this.#config.env.HOME });
    this.#asking = asking;
    if (this.#waiting && asking.offer(this.#waiting)) this.#waiting = undefined;
    try {
      const reason = await asking.run();
      tell({ type: "session", id: this.#session });
      return reason;
    } catch (error) {
      // It may have died since its last turn, unnoticed.
      if (kept && !told && this.#process.problem) throw new SessionLost(this.#session);
      throw error;
    } finally {
      this.#asking = undefined;
    }
  }

  end(how: "politely" | "now"): Promise<void> {
    return this.#process.end(how);
  }

  #event(event: Fields): void {
    const asks = event.type === "extension_ui_request";
    if (asks && askedIn(event)?.what === "turn") {
      if (!this.#asking?.offer(event)) this.#waiting = event;
    } else if (this.#asking) {
      this.#asking.event(event);
    } else if (asks) {
      refuse(this.#process, event);
    }
  }
}

/** All but the session, which the process is in already. */
function argumentsOf(turn: Turn): string {
  return JSON.stringify(startArguments({ ...turn, session: undefined }));
}
