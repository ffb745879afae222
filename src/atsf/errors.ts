import { failures } from "../base/index.js";

export type AtsfFailure =
  | { kind: "atsf.not_a_directory"; dir: string }
  | { kind: "atsf.invalid_thread_id"; thread_id: string }
  | { kind: "atsf.thread_not_found"; thread_id: string }
  | { kind: "atsf.thread_exists"; thread_id: string }
  | { kind: "atsf.version_unsupported"; file: string; found: string }
  | { kind: "atsf.invalid_file"; file: string; problem: string }
  | { kind: "atsf.invalid_message"; problem: string }
  | { kind: "atsf.invalid_thread"; thread_id: string; problem: string }
  | { kind: "atsf.disk_full"; path: string }
  | { kind: "atsf.disk_failed"; path: string }
  | { kind: "atsf.not_writable"; path: string }
  | { kind: "atsf.not_readable"; path: string }
  | { kind: "atsf.read_only"; thread_id: string; reason: string }
  | { kind: "atsf.not_empty"; thread_id: string }
  | { kind: "atsf.asset_invalid"; asset_ref: string }
  | { kind: "atsf.asset_not_found"; asset_ref: string }
  | { kind: "atsf.secret"; file: string; path: string }
  | { kind: "atsf.git_missing" }
  | { kind: "atsf.git_failed"; command: string; words: string; exit_code?: number }
  | { kind: "atsf.not_a_repository"; dir: string }
  | { kind: "atsf.no_commits"; dir: string }
  | { kind: "atsf.not_a_worktree"; path: string }
  | { kind: "atsf.worktree_locked"; path: string; reason: string }
  | { kind: "atsf.worktree_uncommitted"; path: string; files: string[]; count: number }
  | { kind: "atsf.worktree_unpushed"; path: string; commits: number }
  | { kind: "atsf.worktree_thread_differs"; path: string; thread_id: string }
  | { kind: "atsf.archive_invalid"; problem: string }
  | { kind: "atsf.archive_too_large"; unit: "bytes" | "entries"; limit: number };

export const atsfError = failures<AtsfFailure>();
