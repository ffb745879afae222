import { unixSeconds } from "../../base/index.js";
import type { ParsedParams, Result } from "../../protocol/index.js";
import { type WorkspaceRow, workspaces } from "../../store/index.js";
import { announceTree } from "../changes.js";
import type { Call, TreeDeps } from "../deps.js";
import { treeError, workspaceNotFound } from "../errors.js";
import { workspaceToWire } from "../wire.js";
import { requireWorkspace } from "./get.js";
import { assertPathFree } from "./update.js";

/** Hides a workspace. Nothing on disk is touched, and for 30 days it can be brought back. */
export async function deleteWorkspace(
  deps: TreeDeps,
  { workspace_id }: ParsedParams<"workspace/delete">,
  call: Call,
): Promise<Result<"workspace/delete">> {
  return deps.store.write({ key: ["workspaces", workspace_id], origin: call.origin }, function* () {
    const row = yield* requireWorkspace(workspace_id);
    if (row.home) {
      throw treeError({ kind: "workspace.is_home", workspace_id }, "The Home workspace can't be deleted.");
    }
    const now = unixSeconds(deps.clock);
    yield* workspaces.updateWorkspace(workspace_id, { deleted_at: now });
    yield* announceTree(workspace_id, now, undefined);
    return { deleted: true };
  });
}

export async function undeleteWorkspace(
  deps: TreeDeps,
  { workspace_id }: ParsedParams<"workspace/undelete">,
  call: Call,
): Promise<Result<"workspace/undelete">> {
  return deps.store.write({ key: ["workspaces", workspace_id], origin: call.origin }, function* () {
    const row = yield* workspaces.findDeletedWorkspace(workspace_id);
    if (!row) throw workspaceNotFound(workspace_id);
    if (row.root_path !== null) yield* assertPathFree(row.root_path, workspace_id);
    const restored = yield* workspaces.updateWorkspace(workspace_id, { deleted_at: null });
    yield* announceTree(workspace_id, unixSeconds(deps.clock), undefined);
    return { workspace: workspaceToWire(restored as WorkspaceRow) };
  });
}
