import type { Command } from "commander";
import type { Result, Workspace } from "../../protocol/index.js";
import { UsageError } from "../errors.js";
import { examples, type WorkspaceOptions, workspaceOptions } from "../options.js";
import { count, paint, print, printJson, visible } from "../output.js";
import { type Progress, progressLine } from "../progress.js";
import { EXIT_FAILED } from "../report.js";
import { NO_HURRY, type Session, withSession } from "../session.js";
import { listWorkspaces } from "../workspace-choice.js";

export function addReindex(program: Command): void {
  const command = program
    .command("reindex")
    .description("read every thread file of a workspace again, for the lists and for the search")
    .option("--all", "of every workspace");
  examples(
    workspaceOptions(command).addHelpText(
      "after",
      "\nLists follow the files by themselves. This is for when you doubt that they did; it changes no file.",
    ),
    "heddle reindex",
    "heddle reindex --all",
  ).action(reindex);
}

type Options = WorkspaceOptions & { readonly all?: boolean };

interface Outcome extends Partial<Result<"workspace/reindex">> {
  readonly workspace_id: string;
  readonly name: string;
  readonly error?: { readonly kind: string; readonly message: string };
}

async function reindex(options: Options): Promise<void> {
  if (options.all && options.workspace !== undefined) {
    throw new UsageError("--all and --workspace exclude each other");
  }
  const data = await withSession(options, async (session) => {
    if (!options.all) return [await readAgain(session, await session.workspace(), progressLine(options))];
    const outcomes: Outcome[] = [];
    for (const workspace of await listWorkspaces(session.client)) {
      const progress = progressLine(options);
      outcomes.push(
        await readAgain(session, workspace, progress).catch((error) => refused(workspace, error)),
      );
    }
    return outcomes;
  });
  if (data.some(({ error }) => error)) process.exitCode = EXIT_FAILED;
  if (options.json) return printJson({ data });
  for (const outcome of data) print(...describe(outcome));
}

async function readAgain(
  { client, call }: Session,
  { id: workspace_id, name }: Workspace,
  progress: Progress,
): Promise<Outcome> {
  const stop = client.on("workspace/indexing", ({ workspace_id: of, done, total }) => {
    if (of !== workspace_id) return;
    progress.show(
      `${name}: ${done < total ? `${done} of ${total} threads` : "reading messages for the search"}`,
    );
  });
  try {
    await call("subscribe", { workspace_id });
    progress.show(`${name}: looking for threads`);
    return { workspace_id, name, ...(await call("workspace/reindex", { workspace_id }, NO_HURRY)) };
  } finally {
    stop();
    progress.end();
  }
}

/** A workspace that can't be read (its disk is away, say) keeps no other from being read. */
function refused({ id: workspace_id, name }: Workspace, error: Error & { kind?: string }): Outcome {
  if (error.name !== "CallError") throw error;
  return { workspace_id, name, error: { kind: error.kind ?? "internal", message: error.message } };
}

function describe({ name, error, threads = 0, added, changed, removed, problems = [] }: Outcome): string[] {
  if (error) return [`${paint.bold(name)}: ${paint.red(visible(error.message))}`];
  return [
    `${paint.bold(name)}: ${count(threads, "thread")}; ${added} added, ${changed} changed, ${removed} removed${problems.length > 0 ? `, ${count(problems.length, "problem")}` : ""}`,
    ...problems.map(({ file, message }) => `  ${paint.yellow(visible(file))}: ${visible(message)}`),
  ];
}
