import { type Unit, type WorkspaceRow, workspaces } from "../../store/index.js";
import { workspaceNotFound } from "../errors.js";

/** The workspace a unit is about to change; from here on nobody else changes it until the unit ends. */
export function* requireWorkspace(workspace_id: string): Unit<WorkspaceRow> {
  yield* workspaces.lockWorkspace(workspace_id);
  const row = yield* workspaces.findWorkspace(workspace_id);
  if (!row) throw workspaceNotFound(workspace_id);
  return row;
}
