import type { z } from "zod";

/** Every module's failures: a dotted, stable `kind` with the facts a caller needs to act. */
export interface Failure {
  readonly kind: string;
}

/** A refusal with a known cause. Anything else that is thrown is a bug, and is answered as an internal error. */
export class HeddleError extends Error {
  override readonly name = "HeddleError";
  readonly kind: string;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(failure: Failure & Record<string, unknown>, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    const { kind, ...data } = failure;
    this.kind = kind;
    this.data = data;
  }
}

/** A constructor of errors that accepts only the failures a module declares. */
export function failures<F extends Failure>() {
  return (failure: F, message: string, cause?: unknown): HeddleError =>
    new HeddleError(failure as unknown as Failure & Record<string, unknown>, message, cause);
}

export function isKind(error: unknown, kind: string): error is HeddleError {
  return error instanceof HeddleError && error.kind === kind;
}

type Found = z.core.$ZodRawIssue;

/**
 * What a schema found, for a person: it completes a sentence that begins with the key, and holds nothing of the value. Given to
 * a schema as `error`; where the schema has words of its own, those are told. Undefined leaves it to the library.
 */
export function plainWords(issue: Found): string | undefined {
  if (issue.input === undefined && issue.code.startsWith("invalid_")) return "is missing";
  switch (issue.code) {
    case "invalid_type":
      return typeProblem([issue.expected], issue.input);
    case "invalid_value":
      return `must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.map(String).join(", ")}`;
    case "too_small":
      return boundProblem(issue, { bound: issue.minimum, side: "at least", beyond: "more than" });
    case "too_big":
      return boundProblem(issue, { bound: issue.maximum, side: "at most", beyond: "less than" });
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "unrecognized_keys":
      return `must not have ${keysText(issue.keys)}`;
    case "invalid_format":
      return issue.format === "datetime" ? "must be a time such as 2026-01-31T12:00:00Z" : undefined;
    case "invalid_union":
      return shapeProblem(issue);
    default:
      return undefined;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  object: "an object",
  record: "an object",
  array: "a list",
  tuple: "a list",
  null: "null",
};

function typeProblem(expected: readonly string[], input: unknown): string {
  const wanted = [...new Set(expected.map((one) => TYPES[one] ?? one))].join(" or ");
  const given = typeOf(input);
  const fraction = given === "number" && expected.every((one) => one === "int" || one === "number");
  return fraction ? `must be ${wanted}` : `must be ${wanted}, not ${TYPES[given] ?? given}`;
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

interface Bound {
  readonly bound: number | bigint;
  readonly side: string;
  readonly beyond: string;
}

type Bounded = Extract<Found, { code: "too_small" | "too_big" }>;

function boundProblem({ origin, exact, inclusive, code }: Bounded, { bound, side, beyond }: Bound) {
  if (origin === "number" || origin === "int" || origin === "bigint")
    return `must be ${inclusive === false ? beyond : side} ${bound}`;
  if (origin !== "string" && origin !== "array") return undefined;
  if (code === "too_small" && !exact && Number(bound) === 1) return "must not be empty";
  const unit = origin === "string" ? "character" : "entry";
  const units = Number(bound) === 1 ? unit : unit.replace(/y$/, "ie").concat("s");
  return `must have ${exact ? "exactly" : side} ${bound} ${units}`;
}

const MOST_KEYS = 3;
const LONGEST_KEY = 64;

/** Keys are the sender's own: told whole, they could be as long as the message. */
function keysText(keys: readonly string[]): string {
  const told = keys
    .slice(0, MOST_KEYS)
    .map((key) => JSON.stringify(key.slice(0, LONGEST_KEY).toWellFormed()));
  return `${keys.length === 1 ? "the key" : "the keys"} ${told.join(", ")}${keys.length > MOST_KEYS ? ", …" : ""}`;
}

function shapeProblem({ errors, input }: Extract<Found, { code: "invalid_union" }>): string | undefined {
  const expected = errors.map(([first, more]) =>
    first?.code === "invalid_type" && first.path.length === 0 && !more ? first.expected : undefined,
  );
  if (expected.length === 0) return undefined;
  if (expected.every((one) => one !== undefined)) return typeProblem(expected, input);
  return "is of no form that is known here";
}
