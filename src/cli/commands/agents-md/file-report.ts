import { formatFolderPath } from "../../folder-path.js";
import { paint, print, printJson, visible } from "../../output.js";
import { EXIT_FAILED } from "../../report.js";

export type FileStatus = "created" | "updated" | "unchanged" | "refused";

/** What became of one AGENTS.md on its way between a directory and the tree. */
export interface FileOutcome {
  readonly path: readonly string[];
  readonly file: string;
  readonly status: FileStatus;
  readonly reason?: string;
}

const STATUSES: readonly FileStatus[] = ["created", "updated", "unchanged", "refused"];

export interface FileReport {
  readonly outcomes: readonly FileOutcome[];
  /** Facts that only one direction has. */
  readonly extra?: Readonly<Record<string, unknown>>;
}

/** Tells what became of each file, and sums up. Something refused makes the command fail, after the rest is done. */
export function reportFiles(
  { outcomes, extra }: FileReport,
  options: { json?: boolean; dryRun?: boolean },
): void {
  const summary = Object.fromEntries(
    STATUSES.map((status) => [status, outcomes.filter((each) => each.status === status).length]),
  );
  if (summary.refused) process.exitCode = EXIT_FAILED;
  if (options.json) {
    printJson({ dry_run: options.dryRun === true, ...extra, data: outcomes, summary });
    return;
  }
  for (const each of outcomes) if (each.status !== "unchanged") print(describe(each));
  const total = STATUSES.map((status) => `${summary[status]} ${status}`).join(", ");
  print(`${options.dryRun ? "Nothing was changed. It would be: " : ""}${total}`);
}

const PAINT = { created: paint.green, updated: paint.yellow, unchanged: paint.dim, refused: paint.red };

function describe({ path, file, status, reason }: FileOutcome): string {
  const line = `${PAINT[status](status.padEnd(9))}  ${visible(formatFolderPath(path))}`;
  return reason === undefined ? line : `${line}: ${reason}  ${paint.dim(visible(file))}`;
}
