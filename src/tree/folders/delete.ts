import { unixSeconds } from "../../base/index.js";
import type { ParsedParams, Result } from "../../protocol/index.js";
import { type FolderRow, folders, siblings, threads, type Unit } from "../../store/index.js";
import { announceTree, MAX_LISTED, type TreeChanges } from "../changes.js";
import type { Call, TreeDeps } from "../deps.js";
import { folderToWire, placementOf, threadToWire } from "../wire.js";
import { requireWorkspace } from "../workspaces/get.js";
import { requireFolder } from "./limits.js";

/** Deletes a folder. What it holds moves up to its parent, behind what is there; its AGENTS.md is archived. */
export async function deleteFolder(
  deps: TreeDeps,
  { workspace_id, folder_id }: ParsedParams<"thread/folder/delete">,
  call: Call,
): Promise<Result<"thread/folder/delete">> {
  return deps.store.write({ key: workspace_id, origin: call.origin }, function* () {
    yield* requireWorkspace(workspace_id);
    const folder = yield* requireFolder(workspace_id, folder_id);
    const folderIds = (yield* folders.childFolders(workspace_id, folder_id)).map((row) => row.id);
    const threadIds = yield* threads.threadIdsIn(workspace_id, folder_id);
    const removed = yield* deps.follower.deleting({ workspace_id, folder_id }, call, promote(folder));
    const moved = yield* promoted(workspace_id, folderIds, threadIds);
    const changes = moved && { ...moved, removed_ids: [folder_id, ...removed] };
    yield* announceTree(workspace_id, unixSeconds(deps.clock), changes);
    return { deleted: true };
  });
}

function* promote({ id, workspace_id, parent_folder_id }: FolderRow): Unit<void> {
  for (const table of ["thread_folder", "thread_placement"] as const) {
    const last = yield* siblings.edgeRank({ table, workspace_id, parent_id: parent_folder_id }, "last");
    yield* siblings.moveAll({ table, workspace_id, parent_id: id }, parent_folder_id, last ?? 0);
  }
  yield* folders.deleteFolder(id);
}

/** What moved up, as it stands now; undefined when it is too much to list. */
function* promoted(
  workspace_id: string,
  folderIds: string[],
  threadIds: string[],
): Unit<TreeChanges | undefined> {
  if (folderIds.length + threadIds.length * 2 >= MAX_LISTED) return undefined;
  const movedThreads = yield* threads.findPlacedThreads(workspace_id, threadIds);
  const movedFolders = yield* folders.findFolders(folderIds);
  return {
    ...(movedFolders.length > 0 && { folders: movedFolders.map(folderToWire) }),
    ...(movedThreads.length > 0 && {
      threads: movedThreads.map(threadToWire),
      placements: movedThreads.map(placementOf),
    }),
  };
}
