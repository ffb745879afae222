import type { HeddleError } from "../../base/index.js";
import type { MethodName, Params, Result } from "../../protocol/index.js";
import type { Limits, RateLimit } from "../limits.js";
import { type DispatchDeps, execute } from "../rpc/dispatch.js";
import { gatewayError } from "../rpc/errors.js";
import type { HandlerDeps } from "../rpc/handler.js";
import { deeperThan } from "../rpc/message.js";
import { type BoundThread, Exchange, type Peer } from "../rpc/peer.js";

/** What another protocol than our own is answered with: the methods, and what they work with. */
export interface InsideDeps extends DispatchDeps {
  readonly domain: HandlerDeps;
}

/** Who asks by another protocol. */
export interface Outsider {
  readonly rate: RateLimit;
  readonly gone: AbortSignal;
  readonly bound: BoundThread | undefined;
  /** Stands as the actor on what it changes. */
  readonly client: string;
}

/** Calls a method as a client would, without the wire: its params are checked, and whoever asks has no more rights than there. */
export type CallMethod = <M extends MethodName>(method: M, params: Params<M>) => Promise<Result<M>>;

export function callerFor(deps: DispatchDeps, { rate, gone, bound, client }: Outsider): CallMethod {
  const peer: Peer = { rate, gone, bound, client, inFlight: 0, subscriptions: undefined };
  return async (method, params) => {
    const exchange = new Exchange(peer);
    try {
      return (await execute(deps, { id: undefined, method, params }, peer, exchange)) as never;
    } finally {
      exchange.settle();
    }
  };
}

/** A body as JSON, within the bounds of a message. */
export function readJson(
  text: string,
  { depth }: Pick<Limits, "depth">,
): { readonly value: unknown } | { readonly error: HeddleError } {
  let value: unknown;
  try {
    value = JSON.parse(text.startsWith("\uFEFF") ? text.slice(1) : text);
  } catch {
    return { error: gatewayError({ kind: "parse_error" }, "The body is not valid JSON.") };
  }
  if (!deeperThan(value, depth)) return { value };
  const failure = { kind: "request.too_deep", limit: depth } as const;
  return { error: gatewayError(failure, `The body is nested more than ${depth} levels deep.`) };
}
