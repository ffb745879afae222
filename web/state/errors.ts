import { CallError, NoAnswerError } from "../../src/client/index.js";

/** What went wrong, for a person: a sentence, and the code that stands at its end in mono. */
export interface Problem {
  readonly message: string;
  readonly code?: string;
}

export function problemOf(error: unknown): Problem {
  if (error instanceof CallError) return { message: error.message, code: error.kind };
  if (error instanceof NoAnswerError) return { message: "The gateway does not answer." };
  return { message: error instanceof Error ? error.message : String(error) };
}

/** Whether the gateway refused, with this kind; anything else may be tried again. */
export function isKind(error: unknown, kind: string): error is CallError {
  return error instanceof CallError && error.kind === kind;
}

export function isRefused(error: unknown): error is CallError {
  return error instanceof CallError;
}
