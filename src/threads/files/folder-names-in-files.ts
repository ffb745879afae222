import { folders, threadFiles, threads, type Unit, type WorkspaceRow } from "../../store/index.js";
import type { ThreadsDeps } from "../deps.js";
import { ownChanges } from "../metadata.js";
import { type NamedFolder, namesByFolder } from "./folder-names.js";
import { stampsOf } from "./look.js";
import { pageThrough } from "./page-through.js";

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
  if (folder_id !== undefined) return deps.store.read(() => otherNamesBelow(workspace_id, folder_id));
  const rows: NamedFolder[] = [];
  for await (const row of pageThrough(deps, workspace_id, folders.pageOfFolders)) rows.push(row);
  const names = namesByFolder(rows);
  const stale: string[] = [];
  for await (const row of pageThrough(deps, workspace_id, threadFiles.pageOfFileFolders))
    if (hasOtherNames(row, row.folder_id === null ? null : (names.get(row.folder_id) ?? [])))
      stale.push(row.id);
  return stale;
}

function* otherNamesBelow(workspace_id: string, folder_id: string): Unit<string[]> {
  const above = (yield* folders.folderPath({ id: folder_id })).slice(0, -1).map(({ name }) => name);
  const below = namesByFolder(yield* folders.foldersBelow(folder_id));
  const rows = yield* threadFiles.fileFoldersBelow(workspace_id, folder_id);
  return rows
    .filter((row) => hasOtherNames(row, [...above, ...(below.get(row.folder_id ?? "") ?? [])]))
    .map(({ id }) => id);
}

function hasOtherNames(row: threadFiles.FileFolderRow, names: readonly string[] | null): boolean {
  if (row.deleted_at !== null || row.envelope_stamp === null) return false;
  return row.file_folder !== (names && JSON.stringify(names));
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
    if (!row || row.folder_id === null) return row && { row, path: undefined };
    return { row, path: (yield* folders.folderPath({ id: row.folder_id })).map(({ name }) => name) };
  });
  if (!now || now.row.deleted_at !== null || now.row.read_only !== null) return;
  const file_folder = now.path ? JSON.stringify(now.path) : null;
  if (file_folder === now.row.file_folder) return;
  const file = await deps.files.thread(now.row.file_root ?? deps.files.directoryOf(workspace), thread_id);
  await file.change(ownChanges({ folder: now.path, folderId: now.row.folder_id ?? undefined }));
  deps.files.remember(workspace_id, thread_id, stampsOf(file.dir));
  await deps.store.write({ key: workspace_id }, () =>
    threads.updateThread(workspace_id, thread_id, { file_folder }),
  );
}
