import { failures } from "../base/index.js";

/** Where reading a prompt pack came to its end. */
export type SyncStage = "index" | "resolve" | "read" | "parse" | "validate" | "store";

export type PromptsFailure =
  | { kind: "blob.not_found"; ref: string }
  | { kind: "blob.corrupt"; ref: string }
  | { kind: "blob.too_large"; size: number; limit: number }
  | { kind: "prompt.invalid"; ref?: string; problem: string }
  | { kind: "prompt.refs_empty"; source: "run_refs" | "thread_refs" }
  | { kind: "prompt.not_synced"; pack: string }
  | { kind: "prompt.too_large"; limit: number; tokens: number }
  | { kind: "prompt.workspace_not_found"; workspace: string }
  | { kind: "prompt.unreadable"; stage: SyncStage; reason: string };

export const promptsError = failures<PromptsFailure>();

export function unreadable(stage: SyncStage, reason: string) {
  return promptsError({ kind: "prompt.unreadable", stage, reason }, reason);
}
