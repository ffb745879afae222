import { failures } from "../base/index.js";

export type TreeFailure =
  | { kind: "workspace.not_found"; workspace_id: string }
  | { kind: "workspace.is_home"; workspace_id: string }
  | { kind: "workspace.path_invalid"; root_path: string }
  | { kind: "workspace.path_taken"; root_path: string; workspace_id: string }
  | { kind: "folder.not_found"; folder_id: string }
  | { kind: "folder.cycle"; folder_id: string; parent_folder_id: string }
  | { kind: "folder.too_deep"; depth: number; limit: number }
  | { kind: "tree.not_a_sibling"; after_id: string }
  | { kind: "thread.not_found"; thread_id: string }
  | { kind: "thread.ambiguous"; thread_id: string; workspace_ids: string[] }
  | { kind: "cursor_invalid" };

export const treeError = failures<TreeFailure>();

export function workspaceNotFound(workspace_id: string) {
  return treeError({ kind: "workspace.not_found", workspace_id }, `There is no workspace ${workspace_id}.`);
}

export function folderNotFound(folder_id: string) {
  return treeError(
    { kind: "folder.not_found", folder_id },
    `There is no folder ${folder_id} in this workspace.`,
  );
}

export function threadNotFound(thread_id: string) {
  return treeError({ kind: "thread.not_found", thread_id }, `There is no thread ${thread_id}.`);
}
