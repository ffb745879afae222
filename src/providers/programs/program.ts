import type { FailureCode } from "../failure.js";
import type { PromptMessage } from "../prompt-message.js";
import type {
  Delivery,
  FinishReason,
  GenerateRequest,
  ModelParams,
  ProgramId,
  ProviderEvent,
  ToolSpec,
  WorkPlace,
} from "../provider.js";
import type { ProgramConfig } from "./config.js";

/** What is peculiar to one program: a file or a folder of its own. `talk.ts` does what they share. */
export interface Program {
  readonly id: ProgramId;
  /** A process that is about to be started for this turn; nothing happens yet. */
  converse(turn: Turn, config: ProgramConfig): Conversation;
}

/** One turn of a thread, as a program needs it. */
export interface Turn {
  /** Undefined: the program chooses. */
  readonly model: string | undefined;
  readonly params: ModelParams;
  /** Everything of the system, as one text; may be empty. */
  readonly instructions: string;
  /** `sha256` of it. */
  readonly instructionsHash: string;
  /** The session to go on with; its number of told messages has become `input`. Undefined: a new one. */
  readonly session: { readonly id: string; readonly instructions: string } | undefined;
  /** What was said before, for a session that is new; empty when one is resumed. */
  readonly past: readonly PromptMessage[];
  /** What the session was not told yet. The last of it is what is asked now. */
  readonly input: readonly PromptMessage[];
  readonly tools: readonly ToolSpec[];
  readonly work: WorkPlace;
}

/** What is handed over, word for word, before it is. */
export interface Handover {
  /** The command, as in `process:codex app-server`. */
  readonly url: string;
  /** Exactly the texts that carry instructions, history and message, a line each; arguments as a JSON array. No secret. */
  readonly body: string;
  readonly delivery: Omit<Delivery, "instructions">;
}

/** Takes events of a turn as they come. Never `request`, `finish`, `failed` or `aborted`: those are the caller's. */
export type Tell = (
  event: Exclude<ProviderEvent, { type: "request" | "finish" | "failed" | "aborted" | "retrying" }>,
) => void;

/** A process of a program, and the session it is in. Every promise rejects with a `ProgramProblem` at the latest when it dies. */
export interface Conversation {
  /**
   * Starts the process and gets it to where it can be asked. Nothing of the message is sent yet. Rejects with
   * `SessionLost` when the program does not know the session.
   */
  open(): Promise<void>;
  /** Whether a later turn can go to this process as it is: same model, tools and instructions, or a way to change them. */
  fits(turn: Turn): boolean;
  /** What `ask` would send; at its first turn with what `open` sends. Pure. Throws `SessionLost` where `open` is sure to. */
  handover(turn: Turn): Handover;
  /** Asks, and tells what comes until the turn has ended. May also reject with `SessionLost`, before anything was told. */
  ask(turn: Turn, tell: Tell): Promise<FinishReason>;
  /** Nothing of its process group is left when it resolves. With `now`, within a second. It can be called at any time. */
  end(how: "politely" | "now"): Promise<void>;
  /** Told once when the process is gone, whoever ended it. */
  onOver: ((problem: string | undefined) => void) | undefined;
}

/** Why a turn can't be carried out, in words that complete "The program x …" or "x …", without a full stop. */
export class ProgramProblem extends Error {
  readonly code: FailureCode;

  constructor(code: FailureCode, words: string) {
    super(words);
    this.code = code;
  }
}

/** The program does not know the session that it was to go on with. */
export class SessionLost extends Error {}

/** A request without a place to work in can't be carried out by a program. */
export type WorkRequest = GenerateRequest & { readonly work: WorkPlace };
