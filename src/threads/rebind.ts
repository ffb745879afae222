import { threadPlaces } from "../atsf/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import { threadFiles, workspaces } from "../store/index.js";
import { type Call, updateWorkspace } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { bringAlong } from "./files/bring-along.js";
import type { Follower } from "./files/follow.js";
import { takeOut } from "./files/gone.js";
import { pageThrough } from "./files/page-through.js";

/**
 * Renames a workspace or binds it to another directory. Threads of a workspace that had no project come along into it;
 * those of a project stay in that project.
 */
export async function rebindWorkspace(
  deps: ThreadsDeps,
  watching: Follower,
  params: ParsedParams<"workspace/update">,
  call: Call,
): Promise<Result<"workspace/update">> {
  const before = await deps.store.read(() => workspaces.findWorkspace(params.workspace_id));
  const result = await updateWorkspace(deps, params, call);
  const root_path = result.workspace.root_path ?? null;
  if (!before || before.root_path === root_path) return result;
  watching.forget(before.id);
  await deps.project.refresh(before.id);
  const from = deps.files.directoryOf(before);
  await bringAlong(deps, { id: before.id, root_path });
  if (before.root_path !== null && root_path !== null) await leaveBehind(deps, before.id, root_path);
  await deps.files.forget(from);
  await watching.open(before.id);
  return result;
}

/** Threads in worktrees of the project that was left: the index knows them, so they would be found for ever. */
async function leaveBehind(deps: ThreadsDeps, workspace_id: string, root: string): Promise<void> {
  const places = await threadPlaces(root, []);
  for await (const row of pageThrough(deps, workspace_id, threadFiles.pageOfFileStates)) {
    const { id, file_root, deleted_at } = row;
    if (file_root === null || deleted_at !== null || places.includes(file_root)) continue;
    await deps.files.turn(workspace_id, id, () => takeOut(deps, { workspace_id, id }));
  }
}
