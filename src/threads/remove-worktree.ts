import { removeWorktree } from "../atsf/index.js";
import { isKind } from "../base/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import { type Call, getThread } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { threadsError } from "./errors.js";
import { reconcile } from "./files/reconcile.js";
import { reflect } from "./files/reflect.js";
import { locateThread } from "./locate.js";
import { noteRemoving } from "./removing-worktree.js";

/** Removes a thread's worktree. What threads it holds moves to the project first, and stays listed. */
export async function removeThreadWorktree(
  deps: ThreadsDeps,
  params: ParsedParams<"thread/worktree/remove">,
  call: Call,
): Promise<Result<"thread/worktree/remove">> {
  const located = await locateThread(deps, params);
  const { workspace, thread_id, row } = located;
  const path = row.file_root ?? row.worktree_path;
  const main = await deps.files.ensureDirectory(workspace);
  if (path === null || path === main) {
    throw threadsError({ kind: "thread.no_worktree", thread_id }, "This thread has no worktree.");
  }
  if (row.setup?.startsWith('{"status":"running"')) {
    throw threadsError(
      { kind: "thread.setting_up", thread_id },
      "The worktree of this thread is still being set up. Try again when that has ended.",
    );
  }
  await deps.files.turn(workspace.id, thread_id, async () => {
    await deps.files.forget(path);
    const removal = { project: main, path, branch: row.worktree_branch ?? "" };
    const ended = await noteRemoving(deps, thread_id, removal);
    await removeWorktree({ ...removal, force: params.force ?? false }).finally(ended);
    await reflect(deps, { workspace, thread_id, root: main }, call).catch((error) => {
      // A worktree that was deleted by hand took the thread's files with it; the thread stays listed.
      if (!isKind(error, "thread.files_missing")) throw error;
    });
  });
  // Other threads may have stood in the same worktree.
  await reconcile(deps, workspace);
  return getThread(deps, { workspace_id: workspace.id, thread_id });
}
