import { unixSeconds } from "../../base/index.js";
import { ID_PREFIXES, type ParsedParams, type Result } from "../../protocol/index.js";
import { type FolderRow, folders } from "../../store/index.js";
import { announceTree } from "../changes.js";
import type { Call, TreeDeps } from "../deps.js";
import { folderToWire } from "../wire.js";
import { requireWorkspace } from "../workspaces/get.js";
import { assertDepth } from "./limits.js";
import { placedFolders, placeFolder } from "./order.js";

export async function createFolder(
  deps: TreeDeps,
  params: ParsedParams<"thread/folder/create">,
  call: Call,
): Promise<Result<"thread/folder/create">> {
  const { workspace_id, name, after_id } = params;
  const parent_folder_id = params.parent_folder_id ?? null;
  return deps.store.write({ key: workspace_id, origin: call.origin }, function* () {
    yield* requireWorkspace(workspace_id);
    yield* assertDepth(workspace_id, parent_folder_id, 1);
    const now = unixSeconds(deps.clock);
    const id = deps.makeId(ID_PREFIXES.folder);
    const { rank, renumbered } = yield* placeFolder({ id, workspace_id, parent_folder_id, after_id });
    const row: FolderRow = {
      id,
      workspace_id,
      parent_folder_id,
      name,
      rank,
      created_at: now,
      updated_at: now,
    };
    yield* folders.insertFolder(row);
    yield* announceTree(workspace_id, now, { folders: yield* placedFolders(row, renumbered) });
    return { folder: folderToWire(row) };
  });
}
