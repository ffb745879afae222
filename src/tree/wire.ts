import type { Folder, Placement, Thread, Workspace } from "../protocol/index.js";
import type { FolderRow, threads, WorkspaceRow } from "../store/index.js";

/** Rows as the wire shows them. A column without a value is left out, never null. */

export function workspaceToWire(row: WorkspaceRow): Workspace {
  const { id, name, created_at, updated_at } = row;
  return { id, name, ...(row.root_path !== null && { root_path: row.root_path }), created_at, updated_at };
}

export function folderToWire(row: FolderRow): Folder {
  const { id, workspace_id, parent_folder_id, name, rank, created_at, updated_at } = row;
  return parent_folder_id === null
    ? { id, workspace_id, name, rank, created_at, updated_at }
    : { id, workspace_id, parent_folder_id, name, rank, created_at, updated_at };
}

export function placementOf(row: threads.PlacedThreadRow): Placement {
  const { id: thread_id, workspace_id, folder_id } = row;
  const rank = row.rank ?? 0;
  return folder_id === null
    ? { thread_id, workspace_id, rank }
    : { thread_id, workspace_id, folder_id, rank };
}

export function threadToWire(row: threads.PlacedThreadRow): Thread {
  const thread: Thread = {
    id: row.id,
    workspace_id: row.workspace_id,
    title: row.title,
    agent_id: row.agent_id,
    status: row.status as Thread["status"],
    message_count: row.message_count,
    created_at: row.created_at,
    updated_at: row.updated_at,
    config: row.config === null ? {} : JSON.parse(row.config),
  };
  if (row.folder_id !== null) thread.folder_id = row.folder_id;
  if (row.pinned_at !== null) thread.pinned_at = row.pinned_at;
  if (row.last_snippet !== null) thread.last_snippet = row.last_snippet;
  if (row.worktree_path !== null)
    thread.worktree = { path: row.worktree_path, branch: row.worktree_branch ?? "" };
  if (row.parent_thread_id !== null) thread.parent_thread_id = row.parent_thread_id;
  if (row.attributes !== null) thread.attributes = JSON.parse(row.attributes);
  if (row.setup !== null) thread.setup = JSON.parse(row.setup);
  if (row.granted_tools !== null) thread.granted_tools = JSON.parse(row.granted_tools);
  if (row.read_only !== null) thread.read_only = row.read_only;
  return thread;
}
