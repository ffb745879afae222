import { unixSeconds } from "../../base/index.js";
import type { ParsedParams, Result } from "../../protocol/index.js";
import { folders } from "../../store/index.js";
import { announceTree } from "../changes.js";
import type { Call, TreeDeps } from "../deps.js";
import { folderToWire } from "../wire.js";
import { requireWorkspace } from "../workspaces/get.js";
import { requireFolder } from "./limits.js";

export async function renameFolder(
  deps: TreeDeps,
  { workspace_id, folder_id, name }: ParsedParams<"thread/folder/rename">,
  call: Call,
): Promise<Result<"thread/folder/rename">> {
  return deps.store.write({ key: workspace_id, origin: call.origin }, function* () {
    yield* requireWorkspace(workspace_id);
    const row = yield* requireFolder(workspace_id, folder_id);
    if (row.name === name) return { folder: folderToWire(row) };
    const now = unixSeconds(deps.clock);
    const folder = folderToWire(yield* folders.updateFolder(folder_id, { name, updated_at: now }));
    yield* announceTree(workspace_id, now, { folders: [folder] });
    return { folder };
  });
}
