import type { WorkspaceOptions } from "../../options.js";
import { note, paint, paintErr, print, printJson, visible } from "../../output.js";
import { NO_HURRY, withSession } from "../../session.js";
import { onThread } from "./of-thread.js";

export async function removeWorktree(
  id: string,
  options: WorkspaceOptions & { force?: boolean },
): Promise<void> {
  const { force = false } = options;
  const result = await withSession(options, (session) =>
    onThread(session, id, (named) => session.call("thread/worktree/remove", { ...named, force }, NO_HURRY)),
  );
  if (options.json) return printJson(result);
  const { title, read_only } = result.thread;
  print(`Removed the worktree of ${paint.bold(visible(title))}  ${paint.dim(id)}`);
  // Whoever deleted the worktree by hand has deleted the thread's files with it.
  if (read_only === undefined) note(paintErr.dim("The thread stays; its files are in the project now."));
  else
    note(
      paintErr.yellow(
        `There was nothing to move: ${visible(read_only)}, with the files of this thread. It stays listed.`,
      ),
    );
}
