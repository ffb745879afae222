import { type FolderRow, folders, type Unit } from "../../store/index.js";
import { folderNotFound, treeError } from "../errors.js";

export const MAX_DEPTH = 64;

export function* requireFolder(workspace_id: string, folder_id: string): Unit<FolderRow> {
  const row = yield* folders.findFolder(workspace_id, folder_id);
  if (!row) throw folderNotFound(folder_id);
  return row;
}

/** Refuses a place so deep that a folder taking `height` levels would pass the limit. Answers the parent's ancestry. */
export function* assertDepth(
  workspace_id: string,
  parent_folder_id: string | null,
  height: number,
): Unit<readonly string[]> {
  if (parent_folder_id === null) return [];
  yield* requireFolder(workspace_id, parent_folder_id);
  const ancestry = yield* folders.folderAncestry(parent_folder_id);
  const depth = ancestry.length + height;
  if (depth > MAX_DEPTH) {
    throw treeError(
      { kind: "folder.too_deep", depth, limit: MAX_DEPTH },
      `That would be ${depth} levels of folders; the limit is ${MAX_DEPTH}.`,
    );
  }
  return ancestry;
}
