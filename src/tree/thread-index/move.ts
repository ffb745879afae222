import { unixSeconds } from "../../base/index.js";
import type { ParsedParams, Result } from "../../protocol/index.js";
import { notifications, threads } from "../../store/index.js";
import { treeChanged } from "../changes.js";
import type { Call, TreeDeps } from "../deps.js";
import { requireFolder } from "../folders/limits.js";
import { findRank } from "../place.js";
import { placementOf, threadToWire } from "../wire.js";
import { requireWorkspace } from "../workspaces/get.js";
import { findThread, workspaceOfThread } from "./locate.js";

/** Moves a thread. From its next run on, what is in effect in its new folder applies. */
export async function moveThread(
  deps: TreeDeps,
  params: ParsedParams<"thread/move">,
  call: Call,
): Promise<Result<"thread/move">> {
  const workspace_id = await workspaceOfThread(deps, params);
  const folder_id = params.folder_id ?? null;
  return deps.store.write({ key: workspace_id, origin: call.origin }, function* () {
    yield* requireWorkspace(workspace_id);
    const row = yield* findThread({ workspace_id, thread_id: params.thread_id });
    if (folder_id !== null) yield* requireFolder(workspace_id, folder_id);
    const siblings = { table: "thread_placement", workspace_id, parent_id: folder_id } as const;
    const { rank, renumbered } = yield* findRank({
      siblings,
      after_id: params.after_id,
      otherwise: "first",
      id: row.id,
    });
    yield* threads.savePlacement({ workspace_id, thread_id: row.id, folder_id, rank });
    const moved = { ...row, folder_id, rank };
    const thread = threadToWire(moved);
    const placement = placementOf(moved);
    // Numbering anew changes every sibling's rank: too much to list, so clients read the tree again.
    const changes = renumbered ? undefined : { threads: [thread], placements: [placement] };
    yield* notifications.announce(workspace_id, unixSeconds(deps.clock), [
      treeChanged(workspace_id, changes),
    ]);
    return { thread, placement };
  });
}
