import type { AgentsDocResolved, Thread } from "../../../protocol/index.js";
import { formatFolderPath } from "../../folder-path.js";
import type { WorkspaceOptions } from "../../options.js";
import { formatTime, paint, print, printJson, printText } from "../../output.js";
import { type Session, withSession } from "../../session.js";
import { onThread } from "../thread/of-thread.js";
import { activeUpwards, asArgument, type DocAbove, findScope, type Scope, scopeOf } from "./scope.js";

export interface ShowOptions extends WorkspaceOptions {
  readonly text?: boolean;
}

interface Shown {
  readonly scope: Scope;
  readonly thread: Thread | undefined;
  readonly effective: AgentsDocResolved | undefined;
  readonly overrides: readonly DocAbove[];
}

/** Prints where what is in effect comes from and what it overrides, then the text; with `--text` the text alone. */
export async function show(given: string | undefined, options: ShowOptions): Promise<void> {
  const shown = await withSession(options, (session) => look(session, given));
  if (options.json) return printJson(forPrograms(shown));
  if (options.text !== true) print(...header(shown));
  const content = shown.effective?.doc.content;
  if (content === undefined) return;
  printText(content);
  // A prompt or the next output would stand on the text's last line. The text alone is kept to the letter.
  if (options.text !== true && process.stdout.isTTY !== true && !content.endsWith("\n")) print("");
}

async function look(session: Session, given: string | undefined): Promise<Shown> {
  const { scope, thread } = given?.startsWith("thr_")
    ? await scopeOfThread(session, given)
    : { scope: await findScope(session, given), thread: undefined };
  const { effective } = thread
    ? await session.call("thread/agents_doc/resolve_for_thread", {
        workspace_id: thread.workspace_id,
        thread_id: thread.id,
      })
    : await session.call("thread/agents_doc/get", scope.params);
  const overrides = activeUpwards(scope).filter(({ doc }) => doc.id !== effective?.doc.id);
  return { scope, thread, effective, overrides };
}

async function scopeOfThread(session: Session, thread_id: string): Promise<{ scope: Scope; thread: Thread }> {
  const { thread } = await onThread(session, thread_id, (named) => session.call("thread/get", named));
  const { workspace_id } = thread;
  const { workspace } = await session.call("workspace/get", { workspace_id });
  const tree = await session.call("thread/tree", { workspace_id });
  return { scope: scopeOf(workspace, tree, thread.folder_id), thread };
}

function forPrograms({ scope, thread, effective, overrides }: Shown): object {
  return {
    ...scope.params,
    ...(thread && { thread_id: thread.id }),
    path: scope.path,
    ...(scope.own && { explicit: scope.own }),
    ...(effective && { effective }),
    overrides: overrides.map(({ path, doc }) => ({ path, ...doc })),
  };
}

function header({ scope, thread, effective, overrides }: Shown): string[] {
  const where = thread ? `the thread "${thread.title}" in ${scope.name}` : scope.name;
  const lines: string[] = [];
  if (!effective) {
    lines.push(paint.bold(`No AGENTS.md is in effect for ${where}`) + inWorkspace(scope));
    lines.push(...draftLine(scope));
    lines.push(line("write one", `heddle agents-md edit ${asArgument(scope.name)}`));
    return lines;
  }
  const { doc, inherited, source_path } = effective;
  const by = doc.updated_by === undefined ? "" : ` by ${doc.updated_by}`;
  const source = inherited ? `${formatFolderPath(source_path)} (inherited)` : `${scope.name} (its own)`;
  lines.push(paint.bold(`AGENTS.md in effect for ${where}`) + inWorkspace(scope));
  lines.push(line("from", `${source}, version ${doc.version}, saved ${formatTime(doc.updated_at)}${by}`));
  for (const [index, { path, doc: other }] of overrides.entries()) {
    lines.push(line(index === 0 ? "overrides" : "", `${formatFolderPath(path)}, version ${other.version}`));
  }
  lines.push(...draftLine(scope), paint.dim("─".repeat(40)));
  return lines;
}

/** Without it, someone who wrote an empty file would wonder why it does not count. */
function draftLine({ own, name }: Scope): string[] {
  return own?.status === "draft"
    ? [
        line(
          "draft",
          `${name} has one of its own (version ${own.version}), but it is empty and does not count`,
        ),
      ]
    : [];
}

function inWorkspace({ workspace }: Scope): string {
  return paint.dim(`  workspace ${workspace.name}`);
}

function line(name: string, text: string): string {
  return paint.dim(`${name.padEnd(9)}  ${text}`);
}
