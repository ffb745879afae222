import type { RunConfig, RunUsage } from "../../protocol/index.js";
import type { AskedCall, Decision, EffectKind, Origin, ReceiptStatus, RunEnd, RunError } from "./events.js";

/** What the runs of a thread are doing. At rest it is `IDLE`: nothing of what has ended stays in it. */
export interface RunsState {
  readonly active?: ActiveRun;
  /** In the order they will run. */
  readonly queue: readonly AdmittedRun[];
}

export const IDLE: RunsState = { queue: [] };

export interface AdmittedRun {
  readonly run_id: string;
  readonly number: number;
  readonly config: string;
  readonly input: string;
  readonly user_message_id: string;
  readonly agent_message_id: string;
  readonly overrides?: RunConfig;
  readonly origin?: Origin;
}

/** What is due next: a prompt, the model's answer, its tools, the end. */
export type Phase = "prompt" | "model" | "tools" | "ending";

export interface ActiveRun extends AdmittedRun {
  readonly phase: Phase;
  /** Prompts compiled so far. */
  readonly step: number;
  readonly inputs?: string;
  /** Effects that were decided on and are not in the journal yet. */
  readonly due: readonly Effect[];
  /** Effects of this step. */
  readonly intents: readonly Intent[];
  readonly steered: readonly Steering[];
  /** Set when a result that came back was given to it: it is as far from a person as that one. */
  readonly hops?: number;
  /** How much has come, without the text itself: state stays small. */
  readonly progress?: { readonly chars: number; readonly digest: string };
  readonly usage?: RunUsage;
  readonly error?: RunError;
}

export interface Steering {
  readonly input: string;
  readonly user_message_id: string;
  readonly agent_message_id: string;
  /** Of what a person said: what is shown until it is told. */
  readonly said?: { readonly content: string; readonly at: number };
  readonly origin?: Origin;
}

export interface Effect {
  readonly intent_id: string;
  readonly kind: EffectKind;
  readonly params_hash: string;
  readonly call?: AskedCall;
}

export interface Intent extends Effect {
  readonly status: "open" | ReceiptStatus;
  /** When somebody was asked. */
  readonly asked_at?: number;
  readonly result?: string;
  /** What somebody said to a program that asked. */
  readonly decision?: Decision;
  /** The answer of an agent elsewhere may come: the message is on its way there, or was taken. */
  readonly elsewhere?: "handed" | "accepted";
}

/** Calls that wait until somebody allows them. */
export function asking({ intents }: ActiveRun): readonly Intent[] {
  return intents.filter(({ kind, status }) => kind === "approval.ask" && status === "open");
}

/** What an agent elsewhere was asked and has not answered. */
export function askedElsewhere({ intents }: ActiveRun): Intent | undefined {
  return intents.find(({ status, elsewhere }) => status === "open" && elsewhere !== undefined);
}

/** An agent elsewhere has its message: only its answer leads on. */
export function awaitsAnswer(active: ActiveRun): boolean {
  return askedElsewhere(active)?.elsewhere === "accepted";
}

/** Nothing can be done for it until somebody answers. */
export function isWaiting(active: ActiveRun): boolean {
  const { phase, intents } = active;
  if (awaitsAnswer(active)) return true;
  const atWork = intents.some(({ kind, status }) => kind === "tool.call" && status === "open");
  return phase === "tools" && !atWork && asking(active).length > 0;
}

export function isEnd(type: string): type is `run.${RunEnd}` {
  return /^run\.(completed|failed|cancelled|interrupted)$/.test(type);
}
