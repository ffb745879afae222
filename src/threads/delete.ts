import { unixSeconds } from "../base/index.js";
import type { ParsedParams, Result, Thread } from "../protocol/index.js";
import { notifications, threads, workspaces } from "../store/index.js";
import { type Call, treeChanged } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { reflect } from "./files/reflect.js";
import { isDirectory, tellsGone } from "./files/thread-files.js";
import { type Binned, moveFromTrash, moveToTrash } from "./files/trash.js";
import { locateThread } from "./locate.js";

/** Moves a thread's files to the bin and takes it out of every list; for 30 days both can be brought back. */
export async function deleteThread(
  deps: ThreadsDeps,
  params: ParsedParams<"thread/delete">,
  call: Call,
): Promise<Result<"thread/delete">> {
  const { workspace, thread_id } = await locateThread(deps, params);
  return deps.files.turn(workspace.id, thread_id, async () => {
    const binned = { workspace_id: workspace.id, thread_id };
    const { root } = await locateThread(deps, binned);
    const main = deps.files.directoryOf(workspace);
    // Left by a removal of its worktree that was broken off, a copy would bring the thread back when it is found.
    if (root !== main) await moveIfThere(deps, binned, main);
    // A thread whose files are gone already can still leave the lists.
    const moved = await moveIfThere(deps, binned, root);
    await markDeleted(deps, binned, call).catch(async (error) => {
      // A thread that is still listed without its files could neither be read nor written to.
      if (moved) await putBack(deps, () => moveFromTrash(deps, binned, root));
      throw error;
    });
    return { deleted: true };
  });
}

async function moveIfThere(deps: ThreadsDeps, binned: Binned, root: string): Promise<boolean> {
  return moveToTrash(deps, binned, root).then(
    () => true,
    (error) => {
      if (tellsGone(error, root)) return false;
      throw error;
    },
  );
}

/** Also what is left to do when a crash came between the files and the index. */
export async function markDeleted(
  deps: ThreadsDeps,
  { workspace_id, thread_id }: { workspace_id: string; thread_id: string },
  call: Call = {},
): Promise<void> {
  await deps.store.write({ key: workspace_id, origin: call.origin }, function* () {
    if (!(yield* workspaces.lockWorkspace(workspace_id))) return;
    const now = unixSeconds(deps.clock);
    yield* threads.updateThread(workspace_id, thread_id, { deleted_at: now });
    yield* notifications.announce(workspace_id, now, [
      { method: "thread/deleted", params: { workspace_id, thread_id } },
      treeChanged(workspace_id, { removed_ids: [thread_id] }),
    ]);
  });
}

/** Brings a thread back to its place; to the project, when its worktree is gone. */
export async function undeleteThread(
  deps: ThreadsDeps,
  params: ParsedParams<"thread/undelete">,
  call: Call,
): Promise<Result<"thread/undelete">> {
  const { workspace, thread_id } = await locateThread(deps, params, "deleted");
  return deps.files.turn(workspace.id, thread_id, async () => {
    const binned = { workspace_id: workspace.id, thread_id };
    const located = await locateThread(deps, binned, "deleted");
    const main = await deps.files.ensureDirectory(workspace);
    const root = (await isDirectory(located.root)) ? located.root : main;
    await moveFromTrash(deps, binned, root);
    const thread = await reflect(deps, { workspace, thread_id, root }, call).catch(async (error) => {
      await putBack(deps, () => moveToTrash(deps, binned, root));
      throw error;
    });
    return { thread: thread as Thread };
  });
}

/** Where that fails too, the files stay where they are, and the next start brings the index in line with them. */
async function putBack(deps: ThreadsDeps, move: () => Promise<void>): Promise<void> {
  await move().catch((error) => deps.report(error, "the files of a thread could not be put back"));
}
