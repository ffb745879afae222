import type { Command } from "commander";
import { CancelledError, UsageError } from "./errors.js";
import { paintErr } from "./output.js";

/** Exit codes: 0 done, 1 refused or failed, 2 the command line itself is wrong. */
export const EXIT_FAILED = 1;
const EXIT_USAGE = 2;

interface Told {
  readonly message?: string;
  readonly kind?: string;
  readonly code?: unknown;
  readonly exitCode?: number;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** What a person can do about a refusal that comes from the gateway, which knows nothing of commands. */
const ADVICE: Readonly<Record<string, string>> = {
  "workspace.not_found": "`heddle workspaces` lists the ones there are.",
  "folder.not_found": "`heddle folders` lists the ones there are.",
  "thread.not_found": "`heddle threads` lists the ones there are.",
  "thread.ambiguous": "Say which with --workspace.",
  "tree.not_a_sibling": "--after must name something in the folder it is moved to.",
  "agents_doc.revision_not_found": "`heddle agents-md history` lists the versions.",
  "agents_doc.not_found": "`heddle agents-md history` lists the documents.",
  connection_lost: "If this was a change, look whether it was made before you repeat it.",
  timeout: "If this was a change, look whether it was made before you repeat it.",
};

/** Tells a person, or with `--json` a program, what went wrong. Answers the exit code. */
export function reportFailure(error: unknown, context: { given: readonly string[]; program: Command }): number {
  const { code, exitCode } = error as Told;
  const parser = typeof code === "string" && code.startsWith("commander.");
  // The help, or the version, was asked for and has been printed.
  if (parser && exitCode === 0) return 0;
  const usage = parser || error instanceof UsageError;
  const told = describe(error as Told, usage);
  if (context.given.includes("--json")) {
    process.stderr.write(`${JSON.stringify({ error: told })}\n`);
  } else {
    const hint = usage ? seeHelp(context) : ADVICE[told.kind];
    const name = error instanceof CancelledError ? "" : `${paintErr.red("heddle:")} `;
    process.stderr.write(`${name}${told.message}\n${hint ? `${paintErr.dim(hint)}\n` : ""}`);
  }
  if (told.kind === "internal" && error instanceof Error && process.env.HEDDLE_LOG === "debug") {
    process.stderr.write(`${error.stack}\n`);
  }
  return usage ? EXIT_USAGE : EXIT_FAILED;
}

function describe(error: Told, usage: boolean): { kind: string; message: string } {
  const message = (error.message ?? String(error)).replace(/^error: /, "");
  if (usage) return { kind: "usage", message: sentence(message) };
  if (error instanceof CancelledError) return { kind: "cancelled", message };
  const { kind: _, ...data } = error.data ?? {};
  return { ...data, kind: error.kind ?? "internal", message };
}

/** The argument parser writes its suggestion on a line of its own, in brackets. */
function sentence(message: string): string {
  const [first = "", suggestion] = message.split("\n");
  const whole = suggestion ? `${first}. ${suggestion.replace(/^\((.*)\)$/, "$1")}` : first;
  return /[.?!]$/.test(whole) ? whole : `${whole}.`;
}

function seeHelp({ given, program }: { given: readonly string[]; program: Command }): string {
  let command = program;
  for (const word of given) {
    const next = command.commands.find((each) => each.name() === word);
    if (!next) break;
    command = next;
  }
  const names: string[] = [];
  for (let each: Command | null = command; each; each = each.parent) names.unshift(each.name());
  const what = command.commands.length > 0 ? "lists the commands" : "shows how it is used";
  return `\`${names.join(" ")} --help\` ${what}.`;
}
