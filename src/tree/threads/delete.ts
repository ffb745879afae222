import { unixSeconds } from "../../base/index.js";
import type { ParsedParams, Result } from "../../protocol/index.js";
import { notifications, threads } from "../../store/index.js";
import { treeChanged } from "../changes.js";
import type { Call, TreeDeps } from "../deps.js";
import { requireWorkspace } from "../workspaces/get.js";
import { announceThread } from "./announce.js";
import { findThread, workspaceOfThread } from "./locate.js";

/** Hides a thread; for 30 days it can be brought back to where it was. */
export async function deleteThread(
  deps: TreeDeps,
  params: ParsedParams<"thread/delete">,
  call: Call,
): Promise<Result<"thread/delete">> {
  const workspace_id = await workspaceOfThread(deps, params);
  return deps.store.write({ key: workspace_id, origin: call.origin }, function* () {
    yield* requireWorkspace(workspace_id);
    const { id: thread_id } = yield* findThread({ workspace_id, thread_id: params.thread_id });
    const now = unixSeconds(deps.clock);
    yield* threads.updateThread(workspace_id, thread_id, { deleted_at: now });
    yield* notifications.announce(workspace_id, now, [
      { method: "thread/deleted", params: { workspace_id, thread_id } },
      treeChanged(workspace_id, { removed_ids: [thread_id] }),
    ]);
    return { deleted: true };
  });
}

export async function undeleteThread(
  deps: TreeDeps,
  params: ParsedParams<"thread/undelete">,
  call: Call,
): Promise<Result<"thread/undelete">> {
  const workspace_id = await workspaceOfThread(deps, params, "deleted");
  return deps.store.write({ key: workspace_id, origin: call.origin }, function* () {
    yield* requireWorkspace(workspace_id);
    const row = yield* findThread({ workspace_id, thread_id: params.thread_id }, "deleted");
    yield* threads.updateThread(workspace_id, row.id, { deleted_at: null });
    const thread = yield* announceThread({ ...row, deleted_at: null }, unixSeconds(deps.clock), {
      moved: true,
    });
    return { thread };
  });
}
