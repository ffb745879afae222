import { randomUUID } from "node:crypto";
import { failures, HeddleError } from "../../base/index.js";
import { RPC_CODES, type Run } from "../../protocol/index.js";
import type { Log } from "../log.js";
import { internalError, knownError } from "../rpc/errors.js";

/** An error as OpenAI's clients read it. */
export interface ApiError {
  readonly status: number;
  readonly message: string;
  readonly type: string;
  readonly code: string | null;
  readonly param?: string;
  /** Seconds after which it may be tried again; without it, nobody should. */
  readonly retryAfter?: number;
}

/** What is wrong with a request, beyond what Heddle itself refuses. */
export type ChatFailure =
  | { kind: "chat.invalid"; param?: string }
  | { kind: "chat.unsupported"; param: string }
  | { kind: "chat.no_model"; model: string };

export const chatError = failures<ChatFailure>();

const STATUSES: Readonly<Record<string, number>> = {
  "chat.invalid": 400,
  "chat.unsupported": 400,
  "chat.no_model": 404,
  "agent.not_found": 404,
  "agent.unavailable": 404,
  "workspace.not_found": 404,
  "request.too_large": 413,
  "run.input_too_large": 413,
  stopping: 503,
  "run.stopping": 503,
};

const CODES: Readonly<Record<string, string>> = {
  "chat.invalid": "invalid_value",
  "chat.unsupported": "unsupported_parameter",
  "chat.no_model": "model_not_found",
  "agent.not_found": "model_not_found",
  "agent.unavailable": "model_not_found",
};

const PARAMS: Readonly<Record<string, string>> = {
  "chat.no_model": "model",
  "agent.not_found": "model",
  "agent.unavailable": "model",
};

export function apiErrorOf(error: unknown, log: Log): ApiError {
  const known = error instanceof HeddleError ? (knownError(error) ?? ofChat(error)) : undefined;
  if (!known) return unforeseen(error, log);
  const { kind } = known.data;
  const status = STATUSES[kind] ?? statusFor(known.code);
  const busy = status === 429 || status === 503;
  const param = known.data.param ?? PARAMS[kind];
  return {
    status,
    message: known.message,
    type: busy ? "rate_limit_error" : status >= 500 ? "server_error" : "invalid_request_error",
    code: CODES[kind] ?? kind,
    ...(typeof param === "string" && { param }),
    ...(busy && { retryAfter: 1 }),
  };
}

function ofChat({ kind, message, data }: HeddleError) {
  return kind.startsWith("chat.")
    ? {
        code: RPC_CODES.invalid_params,
        message,
        data: { kind, ...data } as Record<string, unknown> & { kind: string },
      }
    : undefined;
}

function statusFor(code: number): number {
  if (code === RPC_CODES.overloaded) return 429;
  if (code === RPC_CODES.forbidden) return 403;
  return code === RPC_CODES.internal ? 500 : 400;
}

function unforeseen(error: unknown, log: Log): ApiError {
  const reference = randomUUID();
  log.error({ err: error, reference }, "a chat completion failed");
  return {
    status: 500,
    message: internalError(reference).message,
    type: "server_error",
    code: "internal",
  };
}

/** Why a run has no answer. Heddle has tried again already where that could help: the client should not. */
export function apiErrorOfRun({ status, error }: Pick<Run, "status" | "error">): ApiError {
  if (status === "cancelled") {
    return { status: 409, message: "The run was cancelled.", type: "server_error", code: "run.cancelled" };
  }
  if (status === "interrupted") {
    const message = "The gateway stopped while the agent was at work.";
    return { status: 503, message, type: "server_error", code: "run.interrupted", retryAfter: 1 };
  }
  const { code = "internal", message = "The run failed." } = error ?? {};
  if (code === "prompt.too_large") {
    return { status: 400, message, type: "invalid_request_error", code: "context_length_exceeded" };
  }
  return { status: 502, message, type: "server_error", code };
}

export function errorBody({ message, type, code, param }: Omit<ApiError, "status">) {
  return { error: { message, type, param: param ?? null, code } };
}

export function errorResponse(error: ApiError, headers: Readonly<Record<string, string>> = {}): Response {
  const { status, retryAfter } = error;
  return new Response(JSON.stringify(errorBody(error)), {
    status,
    headers: {
      ...headers,
      "Content-Type": "application/json",
      // Their clients try again by themselves after some failures: only where that can help.
      "x-should-retry": String(retryAfter !== undefined),
      ...(retryAfter !== undefined && { "Retry-After": String(retryAfter) }),
    },
  });
}
