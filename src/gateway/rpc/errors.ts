import type { AgentsFailure } from "../../agents/index.js";
import type { AtsfFailure } from "../../atsf/index.js";
import { failures, HeddleError } from "../../base/index.js";
import type { HookError } from "../../hooks/index.js";
import type { ImportsFailure } from "../../imports/index.js";
import type { InstructionsFailure } from "../../instructions/index.js";
import type { PromptsFailure } from "../../prompts/index.js";
import { RPC_CODES, type RpcError } from "../../protocol/index.js";
import type { ProviderError } from "../../providers/index.js";
import type { RunsFailure } from "../../runs/index.js";
import type { StoreFailure } from "../../store/index.js";
import type { ThreadsFailure } from "../../threads/index.js";
import type { TreeFailure } from "../../tree/index.js";

export interface ParamIssue {
  readonly path: string;
  readonly message: string;
}

export type GatewayFailure =
  | { kind: "parse_error" }
  | { kind: "invalid_request" }
  | { kind: "request.too_large"; limit: number }
  | { kind: "request.too_deep"; limit: number }
  | { kind: "request.batch_too_large"; limit: number }
  | { kind: "request.needs_connection"; method: string }
  | { kind: "request.too_many_subscriptions"; limit: number }
  | { kind: "unknown_method"; method: string }
  | { kind: "invalid_params"; issues: ParamIssue[] }
  | { kind: "invalid_text"; issues: ParamIssue[] }
  | { kind: "not_allowed"; method: string }
  | { kind: "overloaded"; retry_after_ms: number }
  | { kind: "stopping" };

export const gatewayError = failures<GatewayFailure>();

export function tooLarge(limit: number): HeddleError {
  return gatewayError({ kind: "request.too_large", limit }, `A message may have ${limit} bytes.`);
}

export type ErrorKind =
  | (
      | GatewayFailure
      | TreeFailure
      | ThreadsFailure
      | InstructionsFailure
      | StoreFailure
      | AtsfFailure
      | RunsFailure
      | PromptsFailure
      | ImportsFailure
      | Exclude<AgentsFailure, { kind: `config.${string}` }>
      | Extract<HookError, { kind: "hook.failed" | "hook.cancelled" | "hook.closed" }>
      | ProviderError
    )["kind"]
  | "internal";

/** The JSON-RPC code of every kind: the one place where Heddle's refusals meet the wire. */
export const errorCodes: Readonly<Record<ErrorKind, number>> = {
  parse_error: RPC_CODES.parse,
  invalid_request: RPC_CODES.invalid_request,
  "request.too_large": RPC_CODES.invalid_request,
  "request.too_deep": RPC_CODES.invalid_params,
  "request.batch_too_large": RPC_CODES.invalid_request,
  "request.needs_connection": RPC_CODES.invalid_request,
  "request.too_many_subscriptions": RPC_CODES.invalid_request,
  unknown_method: RPC_CODES.unknown_method,
  invalid_params: RPC_CODES.invalid_params,
  invalid_text: RPC_CODES.invalid_params,
  not_allowed: RPC_CODES.forbidden,
  overloaded: RPC_CODES.overloaded,
  stopping: RPC_CODES.overloaded,
  internal: RPC_CODES.internal,

  "workspace.not_found": RPC_CODES.invalid_params,
  "workspace.is_home": RPC_CODES.invalid_request,
  "workspace.path_invalid": RPC_CODES.invalid_params,
  "workspace.path_taken": RPC_CODES.invalid_request,
  "folder.not_found": RPC_CODES.invalid_params,
  "folder.cycle": RPC_CODES.invalid_request,
  "folder.too_deep": RPC_CODES.invalid_request,
  "tree.not_a_sibling": RPC_CODES.invalid_params,
  "thread.not_found": RPC_CODES.invalid_params,
  "thread.ambiguous": RPC_CODES.invalid_params,
  "thread.attributes_too_large": RPC_CODES.invalid_params,
  "thread.files_missing": RPC_CODES.invalid_request,
  "thread.read_only": RPC_CODES.invalid_request,
  "thread.said_since": RPC_CODES.invalid_request,
  "thread.not_cleared": RPC_CODES.invalid_request,
  "thread.exists": RPC_CODES.invalid_request,
  "thread.no_worktree": RPC_CODES.invalid_request,
  "thread.setting_up": RPC_CODES.invalid_request,
  "workspace.directory_missing": RPC_CODES.invalid_request,
  "message.exists": RPC_CODES.invalid_request,
  "archive.too_large": RPC_CODES.invalid_request,
  "archive.path_invalid": RPC_CODES.invalid_params,
  "import.path_invalid": RPC_CODES.invalid_params,
  "trust.content_changed": RPC_CODES.invalid_request,
  cursor_invalid: RPC_CODES.invalid_params,

  version_conflict: RPC_CODES.invalid_request,
  "agents_doc.too_long": RPC_CODES.invalid_params,
  "agents_doc.not_found": RPC_CODES.invalid_params,
  "agents_doc.revision_not_found": RPC_CODES.invalid_params,

  "atsf.not_a_directory": RPC_CODES.invalid_params,
  "atsf.invalid_thread_id": RPC_CODES.invalid_params,
  "atsf.thread_not_found": RPC_CODES.invalid_params,
  "atsf.thread_exists": RPC_CODES.invalid_request,
  "atsf.version_unsupported": RPC_CODES.invalid_request,
  "atsf.invalid_file": RPC_CODES.invalid_request,
  "atsf.invalid_message": RPC_CODES.invalid_params,
  "atsf.invalid_thread": RPC_CODES.invalid_params,
  "atsf.disk_full": RPC_CODES.internal,
  "atsf.disk_failed": RPC_CODES.internal,
  "atsf.not_writable": RPC_CODES.internal,
  "atsf.not_readable": RPC_CODES.internal,
  "atsf.not_empty": RPC_CODES.invalid_request,
  "atsf.read_only": RPC_CODES.invalid_request,
  "atsf.asset_invalid": RPC_CODES.invalid_params,
  "atsf.asset_not_found": RPC_CODES.invalid_params,
  "atsf.secret": RPC_CODES.invalid_request,
  "atsf.git_missing": RPC_CODES.invalid_request,
  "atsf.git_failed": RPC_CODES.invalid_request,
  "atsf.not_a_repository": RPC_CODES.invalid_request,
  "atsf.no_commits": RPC_CODES.invalid_request,
  "atsf.not_a_worktree": RPC_CODES.invalid_request,
  "atsf.worktree_locked": RPC_CODES.invalid_request,
  "atsf.worktree_uncommitted": RPC_CODES.invalid_request,
  "atsf.worktree_unpushed": RPC_CODES.invalid_request,
  "atsf.worktree_thread_differs": RPC_CODES.invalid_request,
  "atsf.archive_invalid": RPC_CODES.invalid_params,
  "atsf.archive_too_large": RPC_CODES.invalid_params,

  "run.not_found": RPC_CODES.invalid_params,
  "run.not_queued": RPC_CODES.invalid_request,
  "run.not_running": RPC_CODES.invalid_request,
  "run.not_asking": RPC_CODES.invalid_request,
  "run.no_step": RPC_CODES.invalid_params,
  "run.input_too_large": RPC_CODES.invalid_params,
  "run.rejected": RPC_CODES.invalid_request,
  "run.too_many_steps": RPC_CODES.invalid_request,
  "run.too_many_delegations": RPC_CODES.invalid_request,
  "run.queue_full": RPC_CODES.overloaded,
  "run.stopping": RPC_CODES.overloaded,
  "thread.busy": RPC_CODES.invalid_request,
  "thread.other_agent": RPC_CODES.invalid_params,
  "thread.none_of_agent": RPC_CODES.invalid_params,
  "message.not_found": RPC_CODES.invalid_params,
  "agent.not_found": RPC_CODES.invalid_params,
  "agent.unavailable": RPC_CODES.invalid_request,
  "agent.invalid_param": RPC_CODES.invalid_params,
  "blob.not_found": RPC_CODES.invalid_params,
  "blob.corrupt": RPC_CODES.internal,
  "blob.too_large": RPC_CODES.invalid_params,
  "prompt.invalid": RPC_CODES.invalid_params,
  "prompt.refs_empty": RPC_CODES.invalid_params,
  "prompt.not_synced": RPC_CODES.invalid_request,
  "prompt.too_large": RPC_CODES.invalid_request,
  "prompt.workspace_not_found": RPC_CODES.invalid_params,
  "prompt.unreadable": RPC_CODES.invalid_request,
  "hook.failed": RPC_CODES.invalid_request,
  "hook.cancelled": RPC_CODES.invalid_request,
  "hook.closed": RPC_CODES.overloaded,
  "provider.unknown": RPC_CODES.invalid_params,
  "provider.invalid_config": RPC_CODES.invalid_request,
  "provider.missing_key": RPC_CODES.invalid_request,
  "provider.inexpressible": RPC_CODES.invalid_request,

  "store.taken": RPC_CODES.internal,
  "store.newer_schema": RPC_CODES.internal,
  "store.not_heddle": RPC_CODES.internal,
  "store.corrupt": RPC_CODES.internal,
  "store.read_only": RPC_CODES.internal,
  "store.full": RPC_CODES.internal,
  "store.busy": RPC_CODES.internal,
  "store.unavailable": RPC_CODES.internal,
};

/** What a client gets for a known refusal; undefined for anything that is a bug or a failure nobody foresaw. */
export function knownError(error: unknown, method?: string): RpcError | undefined {
  if (!(error instanceof HeddleError) || !(error.kind in errorCodes)) return undefined;
  const code = codeFor(errorCodes[error.kind as ErrorKind], method);
  return { code, message: error.message, data: { kind: error.kind, ...error.data } };
}

export function internalError(reference: string, method?: string): RpcError {
  return {
    code: codeFor(RPC_CODES.internal, method),
    message: `Something went wrong in the gateway. Its log says more under the reference ${reference}.`,
    data: { kind: "internal", reference },
  };
}

/** 001 answers a failure of the store or the gateway itself with -32600 for AGENTS.md documents. */
function codeFor(code: number, method: string | undefined): number {
  const internal = code === RPC_CODES.internal && method?.startsWith("thread/agents_doc/");
  return internal ? RPC_CODES.invalid_request : code;
}
