import { folders, threadFiles, threads, type WorkspaceRow } from "../../store/index.js";
import type { ThreadsDeps } from "../deps.js";
import { ownChanges } from "../metadata.js";
import { namesByFolder } from "./folder-names.js";
import { stampsOf } from "./look.js";

/**
 * Writes into the threads' files where they stand by now: folders are renamed and moved without their threads. With a
 * folder, only of the threads in it and below it.
 */
export async function refreshFolderNames(
  deps: ThreadsDeps,
  workspace: WorkspaceRow,
  folder_id?: string,
): Promise<void> {
  for (const thread_id of await threadsWithOtherNames(deps, workspace.id, folder_id)) {
    await deps.files
      .turn(workspace.id, thread_id, () => writeFolderNames(deps, workspace, thread_id))
      .catch((error) => deps.report(error, "a thread's folder could not be written to its file"));
  }
}

async function threadsWithOtherNames(
  deps: ThreadsDeps,
  workspace_id: string,
  folder_id: string | undefined,
): Promise<string[]> {
  const names = new Map<string, string>();
  function* nameOf(folder: string): Unit<string> {
    const known = names.get(folder) ?? JSON.stringify(yield* pathOf(folder));
    names.set(folder, known);
    return known;
  }
  const stale: string[] = [];
  const look = function* (rows: readonly threadFiles.FileFolderRow[]): Unit<void> {
    for (const row of rows.filter(({ deleted_at, envelope_stamp }) => deleted_at === null && envelope_stamp)) {
      const name = row.folder_id === null ? null : yield* nameOf(row.folder_id);
      if (name !== row.file_folder) stale.push(row.id);
    }
  };
  return stale;
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
