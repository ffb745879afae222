import type { Message } from "../../atsf/index.js";
import type {
  CompileInputs,
  EncodedMessage,
  EncodedValue,
  FrozenConfig,
  Prefix,
} from "../../prompts/index.js";
import type { PromptMessage, ToolSpec } from "../../providers/index.js";
import type { ThreadRow } from "../../store/index.js";
import type { EffectReceipt, RunEnd, RunError } from "../fold/events.js";

export interface SessionKey {
  readonly workspace_id: string;
  readonly thread_id: string;
}

/** A blob that events name: it stays as long as the thread does. */
export interface KeptBlob {
  readonly ref: string;
  readonly text: string | Uint8Array;
  /** It is about to be part of the thread's history, which holds on to it. */
  readonly soonTold?: boolean;
}

/** What somebody asks: as it will stand in the log, and as the model will be told it. */
export interface Input {
  readonly message: Message;
  readonly encoded: EncodedMessage;
  /** The beginning of its text. */
  readonly preview: string;
}

/** What a run is, from now on: whatever changes later, it keeps this. */
export interface Frozen {
  readonly config: FrozenConfig;
  readonly encoded: EncodedValue;
  /** What its events name. */
  readonly blobs: readonly KeptBlob[];
}

/** Everything a run's steps share: hooks are asked once, when it begins. */
export interface PreparedRun {
  readonly config: FrozenConfig;
  readonly inputs: CompileInputs;
  readonly inputsRef: string;
  readonly prefix: Prefix;
  readonly prefixRef: string;
  /** What stands before the history, each with the number of its section. */
  readonly placed: readonly { readonly message: PromptMessage; readonly at: number }[];
  readonly tools: readonly ToolSpec[];
  /** What events name. */
  readonly blobs: readonly KeptBlob[];
  readonly diagnostics: readonly {
    readonly hook_id: string;
    readonly level: string;
    readonly message: string;
  }[];
}

/** How a run is to end. */
export interface Ending {
  /** What the run ends with; it is journaled together with the end. */
  readonly receipt?: EffectReceipt;
  readonly blobs?: readonly KeptBlob[];
  /** Default: what the receipt says. */
  readonly end?: RunEnd;
  readonly error?: RunError;
  /** What changes of the thread with it. */
  readonly thread?: Partial<ThreadRow> | undefined;
}
