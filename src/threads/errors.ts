import { failures } from "../base/index.js";

export type ThreadsFailure =
  | { kind: "workspace.directory_missing"; workspace_id: string; path: string }
  | { kind: "thread.files_missing"; thread_id: string; path: string }
  | { kind: "thread.read_only"; thread_id: string; reason: string }
  | { kind: "thread.exists"; thread_id: string }
  | { kind: "thread.said_since"; thread_id: string }
  | { kind: "thread.not_cleared"; thread_id: string }
  | { kind: "thread.attributes_too_large"; limit: number }
  | { kind: "thread.no_worktree"; thread_id: string }
  | { kind: "thread.setting_up"; thread_id: string }
  | { kind: "message.exists"; message_id: string }
  | { kind: "message.not_found"; message_id: string }
  | { kind: "archive.too_large"; size: number; limit: number }
  | { kind: "archive.path_invalid"; path: string }
  | { kind: "trust.content_changed"; trust_kind: string; content_sha256?: string };

export const threadsError = failures<ThreadsFailure>();
