interface Resumed {
  /** Of the call. */
  readonly id: string;
  readonly workspace_id: string;
  readonly caller_thread_id: string;
  readonly thread_id: string;
}

/**
 * Which threads wait for which. A call that would close a circle is refused before it begins: each would wait for the
 * other until a time limit, and both for nothing.
 */
export class Waits {
  readonly #for = new Map<string, Map<string, number>>();
  readonly #resumed = new Map<string, () => void>();
  /** Runs that nobody waits for any more though the store has not taken that yet: it is written with their end at the latest. */
  readonly left = new Set<string>();

  /** From now on one thread waits for another; undefined when that one waits for it already, directly or not. */
  begin(workspace_id: string, from: string, to: string): (() => void) | undefined {
    const [caller, target] = [`${workspace_id}/${from}`, `${workspace_id}/${to}`];
    if (caller === target || this.#reaches(target, caller)) return undefined;
    const targets = this.#for.get(caller) ?? new Map<string, number>();
    this.#for.set(caller, targets);
    targets.set(target, (targets.get(target) ?? 0) + 1);
    let over = false;
    return () => {
      if (over) return;
      over = true;
      const left = (targets.get(target) ?? 1) - 1;
      if (left > 0) targets.set(target, left);
      else targets.delete(target);
      if (targets.size === 0 && this.#for.get(caller) === targets) this.#for.delete(caller);
    };
  }

  /** A call that a gateway made that is gone waits on, though it was not made again yet. */
  resume({ id, workspace_id, caller_thread_id, thread_id }: Resumed): void {
    this.#resumed.set(id, this.begin(workspace_id, caller_thread_id, thread_id) ?? (() => {}));
  }

  /** What ends the wait of such a call, for the one who makes it again, or knows that nobody will. */
  resumed(id: string): (() => void) | undefined {
    const over = this.#resumed.get(id);
    this.#resumed.delete(id);
    return over;
  }

  #reaches(from: string, to: string): boolean {
    const seen = new Set<string>();
    const next = [from];
    for (let thread = next.pop(); thread !== undefined; thread = next.pop()) {
      if (thread === to) return true;
      if (seen.has(thread)) continue;
      seen.add(thread);
      next.push(...(this.#for.get(thread)?.keys() ?? []));
    }
    return false;
  }
}
