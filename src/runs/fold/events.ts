import type { Happening } from "../../journal/index.js";
import type { RunConfig, RunUsage } from "../../protocol/index.js";
import type { Delivery } from "../../providers/index.js";

/** Everything that can happen to the runs of a thread. `at` is unix milliseconds. Texts are blobs, named by ref. */
export type RunEvent =
  | RunRequested
  | RunSteered
  | PromptCompiled
  | EffectRequested
  | EffectProgress
  | EffectReceipt
  | ProgramHanded
  | ProgramWorked
  | ProgramAsked
  | ExternalPosted
  | ToolCalled
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
  readonly origin?: Origin;
}

/** Where a run, or a message for one, comes from when no person sent it. */
export interface Origin {
  /** Asked by another agent's run; or what came of one that this thread's agent had asked for. */
  readonly kind: "delegated" | "returned";
  readonly mode: "sync" | "async";
  /** Absent when a person had a thread's agent call the tool. */
  readonly run_id?: string;
  readonly thread_id: string;
  readonly agent_id: string;
  /** How many agents stand between it and a person. */
  readonly depth: number;
  /** How many results have come back before it, one leading to the next. */
  readonly hops: number;
  /** The agents above it, the one that a person asked first. */
  readonly agents: readonly string[];
}

/** Another message for a run that is under way: it is given it with its next step. */
export interface RunSteered extends OfRun {
  readonly type: "run.steered";
  readonly input: string;
  readonly user_message_id: string;
  /** Under which the rest of the answer will stand. */
  readonly agent_message_id: string;
  /** The beginning of what a person said. */
  readonly content?: string;
  readonly origin?: Origin;
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

export type EffectKind = "llm.generate" | "tool.call" | "approval.ask";

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
  /** Calls that a program has begun by itself: messages with one each. Each is answered in a later stretch, or here. */
  readonly begun?: readonly string[];
  /** What came of such calls while others of the stretch were still under way. */
  readonly ended?: readonly EndedCall[];
}

export interface EndedCall extends WorkedCall {
  /** What it answered. */
  readonly message: string;
}

export interface AskedCall {
  readonly call_id: string;
  readonly name: string;
  readonly arguments_hash: string;
  /** Somebody is asked first. */
  readonly approval?: "ask";
  /** The beginning of its arguments, for whoever is asked. */
  readonly preview?: string;
  /** How long they are, where that is not all of them. */
  readonly chars?: number;
  /** A tool of the program's own. */
  readonly own?: true;
}

export type Decision = "allow" | "deny" | "always";

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
  /** How long each of its thoughts took, in their order. */
  readonly thoughts_ms?: readonly number[];
  /** Of the text that was sent. */
  readonly request_sha256?: string;
  readonly url?: string;
  readonly duration_ms?: number;
  /** What a tool changed in a file. */
  readonly diff?: string;
  /** What somebody who was asked said, and who. */
  readonly decision?: Decision;
  readonly by?: string;
  readonly error?: RunError;
  /** Found out by a gateway that took the run up. */
  readonly recovered?: boolean;
  /** What a program said beside its answer. */
  readonly diagnostics?: readonly string[];
}

/** What a program, or an agent elsewhere, was handed over, before it was: the text, and by which way. */
export interface ProgramHanded extends OfRun {
  readonly type: "program.handed";
  readonly intent_id: string;
  readonly url: string;
  readonly request: string;
  readonly delivery?: Delivery;
  /** Its answer comes by itself, any time from now on. */
  readonly callback?: true;
  /** Of what was really sent, where a secret in it is not recorded. */
  readonly sent_sha256?: string;
}

/** An agent elsewhere has taken the message. Nothing is done for the run until its answer comes. */
export interface ExternalPosted extends OfRun {
  readonly type: "external.posted";
  readonly intent_id: string;
}

/** What a program has said and done by itself up to here. It stands for the progress before it. */
export interface ProgramWorked extends OfRun {
  readonly type: "program.worked";
  readonly intent_id: string;
  /** As they are told to whoever is asked next: what it said, with its calls, and what came of each. */
  readonly messages: readonly string[];
  readonly calls: readonly WorkedCall[];
  /** How long each of its thoughts took, in their order. */
  readonly thoughts_ms?: readonly number[];
}

export interface WorkedCall {
  readonly call_id: string;
  readonly name: string;
  readonly arguments_hash: string;
  readonly status: "ok" | "failed";
  readonly duration_ms?: number;
  /** What it changed in files. */
  readonly diffs?: string;
}

/** A program, or a tool that it calls here, needs somebody's word before it goes on. */
export interface ProgramAsked extends OfRun {
  readonly type: "program.asked";
  readonly intent_id: string;
  readonly call: AskedCall;
  /** All of its arguments. */
  readonly given: string;
}

/** A tool was called from outside the steps of a run: by a command of its agent, or by a person. It changes no state. */
export interface ToolCalled extends Happening {
  readonly type: "tool.called";
  /** The run under way, if there is one. */
  readonly run_id?: string;
  readonly by: "agent" | "person";
  readonly name: string;
  readonly arguments_hash: string;
  readonly status: "completed" | "failed" | "refused";
  /** Why it was refused. */
  readonly reason?: string;
  readonly duration_ms?: number;
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
