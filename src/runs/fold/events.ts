import type { Happening } from "../../journal/index.js";
import type { RunConfig, RunUsage } from "../../protocol/index.js";

/** Everything that can happen to the runs of a thread. `at` is unix milliseconds. Texts are blobs, named by ref. */
export type RunEvent =
  | RunRequested
  | RunSteered
  | PromptCompiled
  | EffectRequested
  | EffectProgress
  | EffectReceipt
  | RunEnded;

interface OfRun extends Happening {
  readonly run_id: string;
}

/** A run is admitted; asked again for one that waits in the queue, it takes its place. */
export interface RunRequested extends OfRun {
  readonly type: "run.requested";
  readonly number: number;
  /** The frozen configuration. */
  readonly config: string;
  /** What was asked, as the model will be told it. */
  readonly input: string;
  readonly user_message_id: string;
  readonly agent_message_id: string;
  readonly agent_id: string;
  readonly model: string;
  /** The beginning of its text, for lists. */
  readonly content: string;
  readonly idempotency_key?: string;
  /** What was asked for this run alone: kept so that it can be edited while it waits. */
  readonly overrides?: RunConfig;
  readonly parent_run_id?: string;
}

/** Another message for a run that is under way: it is given it with its next step. */
export interface RunSteered extends OfRun {
  readonly type: "run.steered";
  readonly input: string;
  readonly user_message_id: string;
  /** Under which the rest of the answer will stand. */
  readonly agent_message_id: string;
}

export interface PromptCompiled extends OfRun {
  readonly type: "prompt.compiled";
  readonly step: number;
  readonly compiler_version: string;
  /** What it was compiled from, apart from the history. */
  readonly inputs: string;
  /** The manifest of what stands before the history. */
  readonly prefix: string;
  readonly history: {
    readonly epoch: number;
    /** Where the window began before this step, and where it begins now. */
    readonly start: number;
    readonly from: number;
    readonly to: number;
    readonly turn: number;
    readonly list_hash: string;
  };
  readonly marker?: string;
  readonly tokens_estimate: number;
  readonly request_hash: string;
  /** What hooks had to say to people. */
  readonly diagnostics?: readonly {
    readonly hook_id: string;
    readonly level: string;
    readonly message: string;
  }[];
}

export type EffectKind = "llm.generate" | "tool.call";

/** Something is about to be done outside. It is durable before it is done. */
export interface EffectRequested extends OfRun {
  readonly type: "effect.requested";
  readonly intent_id: string;
  readonly kind: EffectKind;
  readonly params_hash: string;
}

/** What has come of it so far, since the last one. */
export interface EffectProgress extends OfRun {
  readonly type: "effect.progress";
  readonly intent_id: string;
  readonly text?: string;
  readonly thinking?: string;
}

export interface AskedCall {
  readonly call_id: string;
  readonly name: string;
  readonly arguments_hash: string;
}

export type ReceiptStatus = "ok" | "failed" | "cancelled" | "interrupted";

/** What came of it. */
export interface EffectReceipt extends OfRun {
  readonly type: "effect.receipt";
  readonly intent_id: string;
  readonly status: ReceiptStatus;
  /** The message that the model gave, or that a tool answered; absent when there is none. */
  readonly result?: string;
  readonly finish?: string;
  readonly calls?: readonly AskedCall[];
  readonly usage?: RunUsage;
  /** Of the text that was sent. */
  readonly request_sha256?: string;
  readonly url?: string;
  readonly duration_ms?: number;
  readonly error?: RunError;
  /** Found out by a gateway that took the run up. */
  readonly recovered?: boolean;
}

export interface RunError {
  readonly code: string;
  readonly message: string;
}

export type RunEnd = "completed" | "failed" | "cancelled" | "interrupted";

export interface RunEnded extends OfRun {
  readonly type: `run.${RunEnd}`;
  readonly error?: RunError;
}
