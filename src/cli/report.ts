import pc from "picocolors";

/** Exit codes: 0 done, 1 refused or failed, 2 the command line itself is wrong. */
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;

/** A mistake on the command line, found by us rather than by the argument parser. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

interface Told {
  readonly message?: string;
  readonly kind?: string;
  readonly code?: unknown;
  readonly exitCode?: number;
}

/** Tells a person, or with `--json` a program, what went wrong. Answers the exit code. */
export function reportFailure(error: unknown, json: boolean): number {
  const { message = String(error), kind, code, exitCode } = error as Told;
  // The argument parser has printed its own message (or the help that was asked for) already.
  if (typeof code === "string" && code.startsWith("commander.")) return exitCode === 0 ? 0 : EXIT_USAGE;
  const usage = error instanceof UsageError;
  const known = usage ? "usage" : (kind ?? "internal");
  if (json) process.stderr.write(`${JSON.stringify({ error: { kind: known, message } })}\n`);
  else process.stderr.write(`${pc.red("heddle:")} ${message}\n`);
  if (known === "internal" && error instanceof Error && process.env.HEDDLE_LOG === "debug") {
    process.stderr.write(`${error.stack}\n`);
  }
  return usage ? EXIT_USAGE : EXIT_FAILED;
}
