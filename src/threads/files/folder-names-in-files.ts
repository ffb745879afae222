import { folders, threadFiles, threads, type WorkspaceRow } from "../../store/index.js";
import type { ThreadsDeps } from "../deps.js";
import { ownChanges } from "../metadata.js";
import { namesByFolder } from "./folder-names.js";
import { stampsOf } from "./look.js";

/** Writes into the threads' files where they stand by now: folders are renamed and moved without their threads. */
export async function refreshFolderNames(deps: ThreadsDeps, workspace: WorkspaceRow): Promise<void> {
  const stale = await deps.store.read(function* () {
    const names = namesByFolder(yield* folders.listFolders(workspace.id));
    const placed = yield* threadFiles.listFileFolders(workspace.id);
    return placed.flatMap(({ id, folder_id, file_folder }) => {
      const path = folder_id === null ? null : JSON.stringify(names.get(folder_id) ?? []);
      return path === file_folder ? [] : [id];
    });
  });
  for (const thread_id of stale) {
    await deps.files
      .turn(workspace.id, thread_id, () => writeFolderNames(deps, workspace, thread_id))
      .catch((error) => deps.report(error, "a thread's folder could not be written to its file"));
  }
}

/** The caller has the thread's turn. */
export async function writeFolderNames(
  deps: ThreadsDeps,
  workspace: WorkspaceRow,
  thread_id: string,
): Promise<void> {
  const workspace_id = workspace.id;
  const now = await deps.store.read(function* () {
    const row = yield* threadFiles.findIndexed(workspace_id, thread_id);
    const names = namesByFolder(yield* folders.listFolders(workspace_id));
    return row && { row, path: row.folder_id === null ? undefined : names.get(row.folder_id) };
  });
  if (!now || now.row.deleted_at !== null || now.row.read_only !== null) return;
  const file_folder = now.path ? JSON.stringify(now.path) : null;
  if (file_folder === now.row.file_folder) return;
  const file = await deps.files.thread(now.row.file_root ?? deps.files.directoryOf(workspace), thread_id);
  await file.change(ownChanges({ folder: now.path }));
  deps.files.remember(workspace_id, thread_id, stampsOf(file.dir));
  await deps.store.write({ key: workspace_id }, () =>
    threads.updateThread(workspace_id, thread_id, { file_folder }),
  );
}
