import type { Command } from "commander";
import { withDefaultVerb } from "./default-verb.js";
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
  "workspace.directory_missing": "`heddle workspaces` lists them with their directories.",
  "atsf.worktree_uncommitted": "`--force` removes the worktree all the same, and they are lost.",
  "atsf.worktree_unpushed": "`--force` removes the worktree all the same; its branch stays.",
  "atsf.worktree_thread_differs": "`--force` removes the worktree all the same.",
  "archive.too_large": "On the gateway's own machine, without --url, there is no such limit.",
  "agent.not_found": "`heddle agents` lists the ones there are.",
  "agent.unavailable": "`heddle agents` tells which can be used.",
  "run.not_asking": "`heddle runs --status waiting` lists the ones that wait.",
  "run.not_found": "`heddle runs` lists the ones there are.",
  "message.not_found": "`heddle threads messages ID --json` lists them with their ids.",
  "prompt.not_synced": "`heddle prompts sync` reads it, `heddle prompts apply` puts it to use.",
  "trust.content_changed": "`heddle trust` shows what it is now.",
  not_allowed: "What an agent runs may use `heddle tool` only.",
  connection_lost: "If this was a change, look whether it was made before you repeat it.",
  timeout: "If this was a change, look whether it was made before you repeat it.",
};

interface Context {
  readonly given: readonly string[];
  readonly program: Command;
}

/** Tells a person, or with `--json` a program, what went wrong. Answers the exit code. */
export function reportFailure(error: unknown, context: Context): number {
  const { code, exitCode } = error as Told;
  const parser = typeof code === "string" && code.startsWith("commander.");
  // The help, or the version, was asked for and has been printed; or a command without a verb has shown its verbs.
  if (parser && exitCode === 0) return 0;
  if (code === "commander.help") return EXIT_USAGE;
  const usage = parser || error instanceof UsageError;
  const told = describe(error as Told, usage);
  if (context.given.includes("--json")) process.stderr.write(`${JSON.stringify({ error: told })}\n`);
  else tellPerson(told, usage ? seeHelp(context, error) : ADVICE[told.kind]);
  if (told.kind === "internal" && process.env.HEDDLE_LOG === "debug") {
    process.stderr.write(`${(error as Error).stack}\n`);
  }
  return usage ? EXIT_USAGE : EXIT_FAILED;
}

function tellPerson({ kind, message }: { kind: string; message: string }, hint: string | undefined): void {
  const name = kind === "cancelled" ? "" : `${paintErr.red("heddle:")} `;
  process.stderr.write(`${name}${message}\n${hint ? `${paintErr.dim(hint)}\n` : ""}`);
}

function describe(error: Told, usage: boolean): { kind: string; message: string } {
  const message = (error.message ?? String(error)).replace(/^error: /, "");
  if (usage) return { kind: "usage", message: sentence(message) };
  if (error instanceof CancelledError) return { kind: "cancelled", message };
  const { kind: _, ...data } = error.data ?? {};
  return { ...data, kind: error.kind ?? "internal", message: plain(message, data) };
}

/** What the schema of a call found, without the words of the wire around it. */
function plain(message: string, { issues }: { issues?: unknown }): string {
  if (!Array.isArray(issues)) return message;
  const found = issues as { path: string; message: string }[];
  return found.map((issue) => `${issue.path} ${issue.message}.`.trimStart()).join(" ");
}

/** The argument parser writes its suggestion on a line of its own, in brackets. */
function sentence(message: string): string {
  const [first = "", suggestion] = message.split("\n");
  const whole = suggestion ? `${first}. ${suggestion.replace(/^\((.*)\)$/, "$1")}` : first;
  return /[.?!]$/.test(whole) ? whole : `${whole}.`;
}

function seeHelp({ given, program }: Context, error: unknown): string {
  const { helpOf } = error as UsageError;
  if (helpOf !== undefined) return `\`${helpOf} --help\` shows how it is used.`;
  let command = program;
  for (const word of withDefaultVerb(given)) {
    const next = command.commands.find((each) => each.name() === word);
    if (!next) break;
    command = next;
  }
  const names: string[] = [];
  for (let each: Command | null = command; each; each = each.parent) names.unshift(each.name());
  const what = command.commands.length > 0 ? "lists the commands" : "shows how it is used";
  return `\`${names.join(" ")} --help\` ${what}.`;
}
