import { basename } from "node:path";
import { unixSeconds } from "../../base/index.js";
import { ID_PREFIXES, type ParsedParams, type Result } from "../../protocol/index.js";
import { type Unit, type WorkspaceRow, workspaces } from "../../store/index.js";
import type { Call, TreeDeps } from "../deps.js";
import { workspaceToWire } from "../wire.js";
import { projectDirectory } from "./project-directory.js";

/** Makes a workspace. One directory has one workspace: asking again answers the one there is. */
export async function createWorkspace(
  deps: TreeDeps,
  params: ParsedParams<"workspace/create">,
  call: Call,
): Promise<Result<"workspace/create">> {
  const root_path = params.root_path === undefined ? null : await projectDirectory(params.root_path);
  return deps.store.write({ key: "workspaces", origin: call.origin }, function* () {
    const bound = root_path === null ? undefined : yield* workspaces.findWorkspaceByPath(root_path);
    if (bound) return { workspace: workspaceToWire(bound), created: false };
    const name = params.name ?? (root_path === null ? "Workspace" : basename(root_path) || root_path);
    return {
      workspace: workspaceToWire(yield* addWorkspace(deps, { name, root_path, home: 0 })),
      created: true,
    };
  });
}

/** A fresh store has one workspace, without a project. */
export async function ensureHome(deps: TreeDeps): Promise<void> {
  await deps.store.write({ key: "workspaces" }, function* () {
    if (!(yield* workspaces.findHome()))
      yield* addWorkspace(deps, { name: "Home", root_path: null, home: 1 });
  });
}

function* addWorkspace(
  deps: TreeDeps,
  given: Pick<WorkspaceRow, "name" | "root_path" | "home">,
): Unit<WorkspaceRow> {
  const now = unixSeconds(deps.clock);
  const id = deps.makeId(ID_PREFIXES.workspace);
  const row: WorkspaceRow = { id, ...given, seq: 0, created_at: now, updated_at: now, deleted_at: null };
  yield* workspaces.insertWorkspace(row);
  return row;
}
