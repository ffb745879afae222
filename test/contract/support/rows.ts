import { sql } from "kysely";
import type {
  AgentsDocRevisionRow,
  AgentsDocRow,
  FolderRow,
  ThreadRow,
  WorkspaceRow,
} from "../../../src/store/index.js";
import { threads, type Unit, workspaces } from "../../../src/store/index.js";
import type { Row } from "./stage.js";

export function workspaceRow(id: string, given: Partial<WorkspaceRow> = {}): WorkspaceRow {
  const times = { created_at: 1, updated_at: 1, deleted_at: null };
  return { id, name: id, root_path: null, home: 0, seq: 0, ...times, ...given };
}

export function folderRow(workspace_id: string, id: string, given: Partial<FolderRow> = {}): FolderRow {
  return {
    id,
    workspace_id,
    parent_folder_id: null,
    name: id,
    rank: 0,
    created_at: 1,
    updated_at: 1,
    ...given,
  };
}

export function threadRow(workspace_id: string, id: string, given: Partial<ThreadRow> = {}): ThreadRow {
  return {
    id,
    workspace_id,
    title: id,
    title_search: id.toLowerCase(),
    agent_id: "demo",
    status: "idle",
    pinned_at: null,
    last_snippet: null,
    message_count: 0,
    worktree_path: null,
    worktree_branch: null,
    parent_thread_id: null,
    attributes: null,
    config: null,
    file_root: null,
    file_folder: null,
    read_only: null,
    own_stamp: null,
    envelope_stamp: null,
    log_stamp: null,
    log_size: null,
    log_tail: null,
    words_to: null,
    history_epoch: null,
    history_from: null,
    history_to: null,
    setup: null,
    granted_tools: null,
    program_session: null,
    callback_secret: null,
    named: null,
    created_at: 1,
    updated_at: 1,
    deleted_at: null,
    ...given,
  };
}

/** A thread as lists show it, at its place in the tree. */
export function placedRow(row: ThreadRow, folder_id: string | null, rank: number): threads.PlacedThreadRow {
  const { title_search, file_root, file_folder, own_stamp, envelope_stamp, named, ...more } = row;
  const { program_session, callback_secret, ...rest } = more;
  const { log_stamp, log_size, log_tail, words_to, history_epoch, history_from, history_to, ...shown } = rest;
  return { ...shown, folder_id, rank };
}

export function docRow(workspace_id: string, id: string, given: Partial<AgentsDocRow> = {}): AgentsDocRow {
  return {
    id,
    workspace_id,
    folder_id: null,
    status: "active",
    title: "AGENTS.md",
    content: `text of ${id}`,
    content_sha256: "0".repeat(64),
    char_count: 1,
    version: 1,
    created_at: 1,
    updated_at: 1,
    archived_at: null,
    created_by: null,
    updated_by: null,
    ...given,
  };
}

export function revisionRow(
  doc_id: string,
  version: number,
  given: Partial<AgentsDocRevisionRow> = {},
): AgentsDocRevisionRow {
  return {
    doc_id,
    version,
    content: `text of ${doc_id}`,
    content_sha256: "0".repeat(64),
    char_count: 1,
    reason: "manual",
    saved_at: 1,
    saved_by: null,
    ...given,
  };
}

/** A workspace with nothing in it. */
export function* addWorkspace(id: string, given: Partial<WorkspaceRow> = {}): Unit<void> {
  yield* workspaces.insertWorkspace(workspaceRow(id, given));
}

export function* addThread(row: ThreadRow, folder_id: string | null = null, rank = 0): Unit<void> {
  const { workspace_id, id: thread_id } = row;
  yield* threads.insertThread(row, { workspace_id, thread_id, folder_id, rank });
}

/** Any statement, within a unit and so on the store's own connection. */
export function* rawStep(statement: string): Unit<Row[]> {
  return (yield { statement: ({ db }) => sql.raw(statement).compile(db) }) as Row[];
}

/** Passes a unit's steps on and counts the statements among them. */
export function* counting<T>(unit: Unit<T>, count: { statements: number }): Unit<T> {
  let step = unit.next([]);
  while (!step.done) {
    if ("statement" in step.value) count.statements++;
    step = unit.next(yield step.value);
  }
  return step.value;
}
