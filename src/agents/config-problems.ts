import type { z } from "zod";
import { type Path, quoted } from "./config-text.js";
import { nearest } from "./nearest.js";

export interface ConfigProblem {
  readonly path: Path;
  /** Completes a sentence that begins with the key. It holds nothing of the value. */
  readonly problem: string;
}

/** What is wrong first. */
export function firstProblem(error: z.ZodError, value: unknown): ConfigProblem {
  return problemOf(error.issues[0] as Issue, [], value);
}

type Issue = z.core.$ZodIssue;

function problemOf(issue: Issue, above: Path, value: unknown): ConfigProblem {
  const path = [...above, ...(issue.path as (string | number)[])];
  if (issue.code === "invalid_union") return problemOf(branchFor(issue, at(value, path)), path, value);
  if (issue.code === "unrecognized_keys") {
    return { path: [...path, issue.keys[0] as string], problem: "is not a key that is known here" };
  }
  if (issue.code === "invalid_key") return { path, problem: issue.issues[0]?.message ?? issue.message };
  return { path, problem: words(issue, path, value) };
}

/** A hook is a module when it says so, else a command. */
function branchFor(issue: Extract<Issue, { code: "invalid_union" }>, value: unknown): Issue {
  const isModule = typeof value === "object" && value !== null && "module" in value;
  return issue.errors[isModule ? 0 : 1]?.[0] as Issue;
}

function words(issue: Issue, path: Path, value: unknown): string {
  return at(value, path) === undefined ? missing(path, value) : issue.message;
}

/** A key that is written wrong is missing and, at once, one too many. */
function missing(path: Path, value: unknown): string {
  const holder = at(value, path.slice(0, -1));
  const others = typeof holder === "object" && holder !== null ? Object.keys(holder) : [];
  const meant = nearest(String(path.at(-1)), others);
  return meant === undefined ? "is missing" : `is missing; ${quoted(meant)} looks like it`;
}

function at(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, part) => {
    if (typeof inner !== "object" || inner === null || !Object.hasOwn(inner, part)) return undefined;
    return (inner as Record<string | number, unknown>)[part];
  }, value);
}
