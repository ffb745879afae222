import { HeddleError } from "../base/index.js";

export interface Problem {
  readonly file: string;
  readonly line?: number;
  /** A stable name of what is wrong. */
  readonly problem: string;
  readonly severity: "error" | "warning";
  readonly message: string;
  /** What a person can do; `repair` does it where `repairable`. */
  readonly advice: string;
  readonly repairable: boolean;
}

interface More {
  readonly line?: number;
  readonly repairable?: boolean;
}

export interface Told {
  /** The stable name. */
  readonly is: string;
  readonly message: string;
  readonly advice: string;
}

export function errorIn(file: string, told: Told, more: More = {}): Problem {
  return problem(file, "error", told, more);
}

export function warningIn(file: string, told: Told, more: More = {}): Problem {
  return problem(file, "warning", told, more);
}

function problem(file: string, severity: Problem["severity"], told: Told, more: More): Problem {
  const { is, message, advice } = told;
  return { file, problem: is, severity, message, advice, repairable: false, ...more };
}

/** A refusal to read a file, as a problem of that file. What is no refusal is a bug, and is thrown on. */
export function refusalOf(file: string, error: unknown, advice: string, more: More = {}): Problem {
  if (!(error instanceof HeddleError)) throw error;
  const is = String(error.data.problem ?? error.kind.replace(/^atsf\./, ""));
  return errorIn(file, { is, message: error.message, advice }, more);
}
