import { existsSync } from "node:fs";
import type { Thread } from "../../../protocol/index.js";
import type { WorkspaceOptions } from "../../options.js";
import { note, paintErr, print, printJson, visible } from "../../output.js";
import { withSession } from "../../session.js";
import { asArgument } from "../agents-md/scope.js";
import { onThread, tellThread } from "./of-thread.js";

export async function remove(id: string, options: WorkspaceOptions): Promise<void> {
  const result = await withSession(options, async (session) => {
    const { thread } = await onThread(session, id, (named) => session.call("thread/get", named));
    const { workspace_id, worktree } = thread;
    if (worktree && !options.json && (session.place === "elsewhere" || existsSync(worktree.path)))
      tellWorktree(id, worktree);
    const deleted = await session.call("thread/delete", { thread_id: id, workspace_id });
    return { deleted, gone: worktree && thread.read_only };
  });
  if (options.json) return printJson(result.deleted);
  print(`Deleted ${id}`);
  if (result.gone === undefined) note(paintErr.dim(`Undo within 30 days: heddle threads undelete ${id}`));
  else note(paintErr.dim(`Its files can't come back: ${visible(result.gone)}.`));
}

/** Said before the thread is gone: afterwards its id names no worktree any more. */
function tellWorktree(id: string, { path, branch }: NonNullable<Thread["worktree"]>): void {
  note(
    paintErr.yellow(`Its worktree stays: ${visible(path)}, branch ${visible(branch)}.`),
    paintErr.dim(
      `To remove it: \`heddle threads remove-worktree ${id}\` before deleting (or after undeleting) the thread, else \`git worktree remove ${asArgument(path)}\`.`,
    ),
  );
}

export async function undelete(id: string, options: WorkspaceOptions): Promise<void> {
  const result = await withSession(options, (session) =>
    onThread(session, id, (named) => session.call("thread/undelete", named)),
  );
  tellThread("Brought back", result, options);
}
