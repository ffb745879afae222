import { relative } from "node:path";
import type { Problem } from "../../../atsf/index.js";
import { count, paint, visible } from "../../output.js";
import { isWithin } from "../../workspace-choice.js";

/** A problem for people: where, how bad, what, and what to do. */
export function problemLines(dir: string, { file, line, severity, message, advice }: Problem): string[] {
  const place = `${fileIn(dir, file)}${line === undefined ? "" : `:${line}`}`;
  const mark = severity === "error" ? paint.red("error") : paint.yellow("warning");
  return [`${paint.bold(place)}  ${mark}  ${visible(message)}`, `    ${paint.dim(`→ ${visible(advice)}`)}`];
}

/** A file as seen from the directory that was asked about; one of a worktree elsewhere by its whole path. */
export function fileIn(dir: string, file: string): string {
  return visible(isWithin(file, dir) ? relative(dir, file) || "." : file);
}

export interface Tally {
  errors: number;
  warnings: number;
  repairable: number;
}

export function tallyIn(tally: Tally, { severity, repairable }: Problem): void {
  if (severity === "error") tally.errors++;
  else tally.warnings++;
  if (repairable) tally.repairable++;
}

export function tallyText({ errors, warnings }: Tally): string {
  return `${count(errors, "error")}, ${count(warnings, "warning")}`;
}
