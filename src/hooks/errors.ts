import type { z } from "zod";
import { failures } from "../base/index.js";
import type { HookPhase } from "./phases.js";

export type HookError =
  | { kind: "hook.invalid_package"; package_id?: string; problem: string }
  | { kind: "hook.phase_reserved"; package_id: string; hook_id: string; phase: string }
  | { kind: "hook.package_exists"; package_id: string }
  | { kind: "hook.package_not_found"; package_id: string }
  | { kind: "hook.id_taken"; id: string; package_id: string; taken_by: string }
  | {
      kind: "hook.unknown_dependency";
      package_id: string;
      hook_id: string;
      phase: HookPhase;
      dependency: string;
    }
  | { kind: "hook.waits_for_background"; hook_id: string; phase: HookPhase; dependency: string }
  | { kind: "hook.cycle"; phase: HookPhase; cycle: readonly string[] }
  | {
      kind: "hook.failed";
      hook_id: string;
      package_id: string;
      subscription_id: string;
      phase: HookPhase;
      reason: FailureReason;
    }
  | { kind: "hook.cancelled"; phase: HookPhase }
  | { kind: "hook.closed" }
  | { kind: "hook.module_failed"; path: string; problem: string }
  | { kind: "hook.module_unsupported"; path: string; problem: string };

export const hookError = failures<HookError>();

/** Why a call of a hook failed, with the words that stand for it where the hook's own must not. */
export const failureReasons = {
  threw: "threw an error",
  late: "took too long",
  invalid_answer: "gave an answer that is not understood",
  undeclared_kind: "contributed a kind its package does not declare",
  kind_not_taken: "contributed a kind that is not taken there",
  too_large: "gave an answer that is too large",
  not_started: "could not be started",
  exited: "ended with an error",
  crashed: "crashed",
  overloaded: "was left out, too much being under way",
} as const;
export type FailureReason = keyof typeof failureReasons;

/** A failure of one call of one hook. Its words may be the hook's own: they are for people who look, never for a prompt. */
export class CallFailure extends Error {
  override readonly name = "CallFailure";

  constructor(
    readonly reason: FailureReason,
    message: string,
    /** What else may help: a stack, the end of what was written to standard error. */
    readonly detail?: string,
  ) {
    super(message);
  }
}

const MOST_WORDS = 2_000;

/** Anything can be thrown, also what throws again when it is looked at. */
export function asCallFailure(error: unknown): CallFailure {
  if (error instanceof CallFailure) return error;
  try {
    if (!(error instanceof Error)) return new CallFailure("threw", bounded(String(error)));
    return new CallFailure("threw", bounded(`${error.name}: ${error.message}`), bounded(error.stack ?? ""));
  } catch {
    return new CallFailure("threw", "something that can't be put into words");
  }
}

/** Bounded and free of half characters, however it was cut. */
export function bounded(text: string, most = MOST_WORDS): string {
  return (text.length > most ? `${text.slice(0, most)}…` : text).toWellFormed();
}

/** The first few of them: a wrong file gives hundreds. */
export function problemsOf(error: z.ZodError): string {
  return error.issues
    .slice(0, 3)
    .map(({ path, message }) => (path.length > 0 ? `${path.join(".")}: ${message}` : message))
    .join("; ");
}
