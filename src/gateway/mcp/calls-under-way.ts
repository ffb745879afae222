import type { BoundThread } from "../rpc/peer.js";

type Calls = Map<string | number, Set<AbortController>>;

/** Whoever makes calls: the program of a thread, or a client as far as its requests tell it from others. */
export type Calling = BoundThread | string;

/**
 * Calls that clients have made and not heard of yet. Over plain HTTP a cancellation is a request of its own, which names
 * the call by an id that another client of the same kind may use too.
 */
export class CallsUnderWay {
  readonly #of = new Map<Calling, Calls>();

  /** Fires when the call is cancelled. */
  begin(by: Calling, id: string | number): { readonly signal: AbortSignal; end(): void } {
    const calls: Calls = this.#of.get(by) ?? new Map();
    this.#of.set(by, calls);
    const same = calls.get(id) ?? new Set();
    calls.set(id, same);
    const cancelling = new AbortController();
    same.add(cancelling);
    const end = () => {
      same.delete(cancelling);
      if (same.size === 0 && calls.get(id) === same) calls.delete(id);
      if (calls.size === 0 && this.#of.get(by) === calls) this.#of.delete(by);
    };
    return { signal: cancelling.signal, end };
  }

  /** Only where it is certain which is meant. */
  cancel(by: Calling, id: string | number): void {
    const [one, another] = this.#of.get(by)?.get(id) ?? [];
    if (one && !another) one.abort();
  }
}
