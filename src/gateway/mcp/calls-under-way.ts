import type { BoundThread } from "../rpc/peer.js";

/**
 * Calls that a thread's program has made and not heard of yet. Over plain HTTP a cancellation is a request of its own, which
 * names the call by an id that another client of the same thread may use too.
 */
export class CallsUnderWay {
  readonly #of = new WeakMap<BoundThread, Map<string | number, Set<AbortController>>>();

  /** Fires when the call is cancelled. */
  begin(bound: BoundThread, id: string | number): { readonly signal: AbortSignal; end(): void } {
    const calls = this.#of.get(bound) ?? new Map<string | number, Set<AbortController>>();
    this.#of.set(bound, calls);
    const same = calls.get(id) ?? new Set();
    calls.set(id, same);
    const cancelling = new AbortController();
    same.add(cancelling);
    const end = () => {
      same.delete(cancelling);
      if (same.size === 0 && calls.get(id) === same) calls.delete(id);
    };
    return { signal: cancelling.signal, end };
  }

  /** Only where it is certain which is meant. */
  cancel(bound: BoundThread, id: string | number): void {
    const [one, another] = this.#of.get(bound)?.get(id) ?? [];
    if (one && !another) one.abort();
  }
}
