import { unixSeconds } from "../../base/index.js";
import type { ParsedParams, Result } from "../../protocol/index.js";
import { type Unit, type WorkspaceRow, workspaces } from "../../store/index.js";
import type { Call, TreeDeps } from "../deps.js";
import { treeError } from "../errors.js";
import { workspaceToWire } from "../wire.js";
import { requireWorkspace } from "./get.js";
import { projectDirectory } from "./project-directory.js";

export async function updateWorkspace(
  deps: TreeDeps,
  params: ParsedParams<"workspace/update">,
  call: Call,
): Promise<Result<"workspace/update">> {
  const { workspace_id, name } = params;
  const root_path = params.root_path === undefined ? undefined : await projectDirectory(params.root_path);
  return deps.store.write({ key: "workspaces", origin: call.origin }, function* () {
    yield* requireWorkspace(workspace_id);
    if (root_path !== undefined) yield* assertPathFree(root_path, workspace_id);
    const row = yield* workspaces.updateWorkspace(workspace_id, {
      ...(name !== undefined && { name }),
      ...(root_path !== undefined && { root_path }),
      updated_at: unixSeconds(deps.clock),
    });
    return { workspace: workspaceToWire(row as WorkspaceRow) };
  });
}

export function* assertPathFree(root_path: string, workspace_id: string): Unit<void> {
  const bound = yield* workspaces.findWorkspaceByPath(root_path);
  if (!bound || bound.id === workspace_id) return;
  throw treeError(
    { kind: "workspace.path_taken", root_path, workspace_id: bound.id },
    `${root_path} already belongs to the workspace "${bound.name}" (${bound.id}).`,
  );
}
