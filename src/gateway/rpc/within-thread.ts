import type { MethodName } from "../../protocol/index.js";
import { gatewayError } from "./errors.js";
import type { BoundThread } from "./peer.js";

/** Everything else shows or changes more than one thread's agent may see, or answers what only a person may. */
const ALLOWED: ReadonlySet<MethodName> = new Set<MethodName>([
  "initialize",
  "ping",
  "tool/list",
  "tool/call",
]);

/** The params of a call by a peer that acts for one thread, with that thread filled in; whatever else it asks is refused. */
export function withinThread(bound: BoundThread, method: MethodName, params: unknown): unknown {
  if (bound.signal.aborted) {
    throw notAllowed(
      method,
      "The command that this token was given to has ended: the token is not valid any more.",
    );
  }
  if (!ALLOWED.has(method)) {
    throw notAllowed(method, `A token of a thread is for tool/list and tool/call only, not for ${method}.`);
  }
  if (!method.startsWith("tool/") || Array.isArray(params)) return params;
  const { workspace_id, thread_id } = bound;
  const given = (params ?? {}) as Record<string, unknown>;
  const isOwn = (named: unknown, own: string) => named === undefined || named === null || named === own;
  if (!isOwn(given.workspace_id, workspace_id) || !isOwn(given.thread_id, thread_id)) {
    throw notAllowed(method, `This token is for the thread ${thread_id} only: name that one, or none.`);
  }
  return { ...given, workspace_id, thread_id };
}

function notAllowed(method: MethodName, message: string) {
  return gatewayError({ kind: "not_allowed", method }, message);
}
