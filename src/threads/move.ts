import type { ParsedParams, Result } from "../protocol/index.js";
import { workspaces } from "../store/index.js";
import * as tree from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { refreshFolderNames, writeFolderNames } from "./files/folder-names-in-files.js";

/** Moves a thread in the tree; its file notes where it stands, for a store that does not know it. */
export async function moveThread(
  deps: ThreadsDeps,
  params: ParsedParams<"thread/move">,
  call: tree.Call,
): Promise<Result<"thread/move">> {
  const moved = await tree.moveThread(deps, params, call);
  const { workspace_id, id } = moved.thread;
  const workspace = await deps.store.read(() => workspaces.findWorkspace(workspace_id));
  if (workspace) {
    await deps.files
      .turn(workspace_id, id, () => writeFolderNames(deps, workspace, id))
      .catch((error) => deps.report(error, "a thread's folder could not be written to its file"));
  }
  return moved;
}

/**
 * After a folder was renamed or moved, or after one was deleted: then none is named, for what was in it is elsewhere now.
 * Nobody waits for it: the store knows where threads stand.
 */
export function folderChanged(deps: ThreadsDeps, workspace_id: string, folder_id?: string): void {
  const work = async () => {
    const workspace = await deps.store.read(() => workspaces.findWorkspace(workspace_id));
    if (workspace) await refreshFolderNames(deps, workspace, folder_id);
  };
  work().catch((error) => deps.report(error, "the folders of threads could not be written to their files"));
}
