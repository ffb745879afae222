import type { ParsedParams, Result } from "../../protocol/index.js";
import { type Unit, type WorkspaceRow, workspaces } from "../../store/index.js";
import type { TreeDeps } from "../deps.js";
import { workspaceNotFound } from "../errors.js";
import { workspaceToWire } from "../wire.js";

export async function getWorkspace(
  deps: TreeDeps,
  params: ParsedParams<"workspace/get">,
): Promise<Result<"workspace/get">> {
  const row = await deps.store.read(() => workspaces.findWorkspace(params.workspace_id));
  if (!row) throw workspaceNotFound(params.workspace_id);
  return { workspace: workspaceToWire(row) };
}

/** The workspace a unit is about to change; from here on nobody else changes it until the unit ends. */
export function* requireWorkspace(workspace_id: string): Unit<WorkspaceRow> {
  const row = yield* workspaces.lockWorkspace(workspace_id);
  if (!row) throw workspaceNotFound(workspace_id);
  return row;
}
