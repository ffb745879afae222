import type { HeddleError } from "../../base/index.js";
import type { RpcId } from "../../protocol/index.js";
import { gatewayError } from "./errors.js";

export interface RpcRequest {
  /** Undefined: a notification, which is carried out but never answered. */
  readonly id: RpcId | undefined;
  readonly method: string;
  readonly params: unknown;
}

/** One member of a message: a request, or why it is none, with the id where one could be read (undefined: a notification). */
export type Parsed =
  | { readonly request: RpcRequest }
  | { readonly id: RpcId | null | undefined; readonly error: HeddleError };

export interface Message {
  readonly batch: boolean;
  readonly members: Parsed[];
}

interface MessageLimits {
  readonly depth: number;
  readonly batch: number;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of a message that came as bytes. What is no UTF-8 is refused: repaired, it would be stored as something else. */
export function decodeMessage(bytes: Uint8Array): { text: string } | { error: HeddleError } {
  try {
    return { text: utf8.decode(bytes) };
  } catch {
    return { error: gatewayError({ kind: "parse_error" }, "The message is not valid UTF-8.") };
  }
}

/** Reads a JSON-RPC message. Whatever is wrong with it becomes an answer, never an exception. */
export function parseMessage(text: string, limits: MessageLimits): Message {
  let value: unknown;
  try {
    value = JSON.parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
  } catch {
    return refused("parse_error", "The message is not valid JSON.");
  }
  if (!Array.isArray(value)) return { batch: false, members: [parseMember(value, limits)] };
  if (value.length === 0) return refused("invalid_request", "A batch needs at least one request.");
  if (value.length > limits.batch) {
    const failure = { kind: "request.batch_too_large", limit: limits.batch } as const;
    const error = gatewayError(
      failure,
      `A batch may hold ${limits.batch} requests; this one has ${value.length}.`,
    );
    return { batch: false, members: [{ id: null, error }] };
  }
  return { batch: true, members: value.map((member) => parseMember(member, limits)) };
}

function refused(kind: "parse_error" | "invalid_request", message: string): Message {
  return { batch: false, members: [{ id: null, error: gatewayError({ kind }, message) }] };
}

function parseMember(value: unknown, limits: MessageLimits): Parsed {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { id: null, error: invalid("A request must be an object.") };
  }
  const { jsonrpc, id, method, params } = value as Record<string, unknown>;
  if (id !== undefined && !isId(id)) {
    return { id: null, error: invalid("id must be a string or a number that JSON can echo exactly.") };
  }
  const known = id ?? null;
  if (jsonrpc !== "2.0") return { id: known, error: invalid('jsonrpc must be "2.0".') };
  if (typeof method !== "string") return { id: known, error: invalid("method must be a string.") };
  if (params !== undefined && (typeof params !== "object" || params === null)) {
    return { id, error: invalidParams("params must be an object.") };
  }
  if (deeperThan(params, limits.depth)) {
    const failure = { kind: "request.too_deep", limit: limits.depth } as const;
    return {
      id,
      error: gatewayError(failure, `params are nested more than ${limits.depth} levels deep.`),
    };
  }
  return { request: { id, method, params } };
}

function invalid(message: string) {
  return gatewayError({ kind: "invalid_request" }, message);
}

function invalidParams(message: string) {
  return gatewayError({ kind: "invalid_params", issues: [{ path: "", message }] }, message);
}

/** A number past 2^53 was rounded when it was read: echoing it would answer another request. */
function isId(id: unknown): id is RpcId {
  if (typeof id === "string") return true;
  return typeof id === "number" && Number.isFinite(id) && Math.abs(id) <= Number.MAX_SAFE_INTEGER;
}

/** Without recursion: the nesting it guards against must not be able to exhaust the stack. */
export function deeperThan(value: unknown, limit: number): boolean {
  let level: object[] = typeof value === "object" && value !== null ? [value] : [];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth >= limit) return true;
    const next: object[] = [];
    for (const parent of level) {
      for (const child of Object.values(parent)) {
        if (typeof child === "object" && child !== null) next.push(child);
      }
    }
    level = next;
  }
  return false;
}
