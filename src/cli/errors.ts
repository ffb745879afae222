import { failures } from "../base/index.js";

/** Refusals that are found on this side of the wire. */
export type CliFailure =
  | { kind: "gateway.unreachable"; url: string }
  | { kind: "gateway.silent"; data_dir: string; pid: number }
  | { kind: "gateway.not_running"; data_dir: string }
  | { kind: "data_dir.in_use"; data_dir: string; pid?: number }
  | { kind: "workspace.unknown"; workspace: string }
  | { kind: "workspace.ambiguous"; workspace: string; workspace_ids: string[] }
  | { kind: "folder.unknown"; path: string[] }
  | { kind: "folder.ambiguous"; path: string[]; folder_ids: string[] }
  | { kind: "file.unreadable"; path: string }
  | { kind: "file.unwritable"; path: string }
  | { kind: "file.not_text"; path: string }
  | { kind: "file.exists"; path: string }
  | { kind: "file.too_large"; path: string; limit: number }
  | { kind: "setup.unseen"; thread_id: string }
  | { kind: "run.failed"; code: string; run_id: string; thread_id: string }
  | { kind: "run.interrupted"; run_id: string; thread_id: string }
  | { kind: "run.cancelled"; run_id: string; thread_id: string }
  | { kind: "run.unseen"; run_id: string; thread_id: string }
  | { kind: "run.waiting"; run_id: string; thread_id: string; tool_call_id: string }
  | { kind: "run.not_asking"; run_id: string; tool_call_id?: string; status: string }
  | { kind: "run.none"; thread_id?: string; number?: number }
  | { kind: "run.not_exact"; run_id: string; step: number }
  | { kind: "thread.none"; agent_id?: string }
  | { kind: "prompt.sync_failed"; pack: string; stage: string; reason: string }
  | { kind: "prompt.nothing_pending"; pack: string }
  | { kind: "thread.unknown"; dir: string; thread_id: string }
  | { kind: "edit.not_saved"; kept: string; cause: string }
  | { kind: "edit.editor_failed"; kept?: string }
  | { kind: "history.no_version"; version: number }
  | { kind: "history.no_document"; doc_id: string }
  | { kind: "thread.not_granted"; thread_id: string; tool: string }
  | { kind: "tool.unknown"; name: string };

export const cliError = failures<CliFailure>();

/** A mistake on the command line, found by us rather than by the argument parser. */
export class UsageError extends Error {
  override readonly name = "UsageError";

  constructor(
    message: string,
    /** The command whose help tells more, where the words before it do not say so. */
    readonly helpOf?: string,
  ) {
    super(message);
  }
}

/** The person said no, or pressed Ctrl-C at a question. */
export class CancelledError extends Error {
  override readonly name = "CancelledError";
}
