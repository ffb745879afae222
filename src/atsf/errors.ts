import { failures } from "../base/index.js";

export type AtsfFailure =
  | { kind: "atsf.not_a_directory"; dir: string }
  | { kind: "atsf.invalid_thread_id"; thread_id: string }
  | { kind: "atsf.thread_not_found"; thread_id: string }
  | { kind: "atsf.thread_exists"; thread_id: string }
  | { kind: "atsf.version_unsupported"; file: string; found: string }
  | { kind: "atsf.invalid_file"; file: string; problem: string }
  | { kind: "atsf.invalid_message"; problem: string }
  | { kind: "atsf.read_only"; thread_id: string; reason: string }
  | { kind: "atsf.asset_invalid"; asset_ref: string }
  | { kind: "atsf.asset_not_found"; asset_ref: string }
  | { kind: "atsf.secret"; file: string; path: string }
  | { kind: "atsf.lock_timeout"; thread_id: string };

export const atsfError = failures<AtsfFailure>();
