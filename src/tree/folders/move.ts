import { unixSeconds } from "../../base/index.js";
import type { ParsedParams, Result } from "../../protocol/index.js";
import { type FolderRow, folders, type Unit } from "../../store/index.js";
import { announceTree } from "../changes.js";
import type { Call, TreeDeps } from "../deps.js";
import { treeError } from "../errors.js";
import { folderToWire } from "../wire.js";
import { requireWorkspace } from "../workspaces/get.js";
import { assertDepth, requireFolder } from "./limits.js";
import { placedFolders, placeFolder } from "./order.js";

/** Moves a folder with all it holds. What is in effect there may change with its new ancestors. */
export async function moveFolder(
  deps: TreeDeps,
  params: ParsedParams<"thread/folder/move">,
  call: Call,
): Promise<Result<"thread/folder/move">> {
  const { workspace_id, folder_id, after_id } = params;
  const parent_folder_id = params.parent_folder_id ?? null;
  return deps.store.write({ key: workspace_id, origin: call.origin }, function* () {
    yield* requireWorkspace(workspace_id);
    yield* requireFolder(workspace_id, folder_id);
    yield* assertFits(workspace_id, folder_id, parent_folder_id);
    const { rank, renumbered } = yield* placeFolder({
      id: folder_id,
      workspace_id,
      parent_folder_id,
      after_id,
    });
    const now = unixSeconds(deps.clock);
    const change = folders.updateFolder(folder_id, { parent_folder_id, rank, updated_at: now });
    const row: FolderRow = yield* deps.follower.moving({ workspace_id, folder_id }, change);
    yield* announceTree(workspace_id, now, { folders: yield* placedFolders(row, renumbered) });
    return { folder: folderToWire(row) };
  });
}

function* assertFits(workspace_id: string, folder_id: string, parent_folder_id: string | null): Unit<void> {
  if (parent_folder_id === null) return;
  const height = yield* folders.folderHeight(folder_id);
  const ancestry = yield* assertDepth(workspace_id, parent_folder_id, height);
  if (!ancestry.includes(folder_id)) return;
  throw treeError(
    { kind: "folder.cycle", folder_id, parent_folder_id },
    "A folder can't be moved into itself or into a folder below it.",
  );
}
