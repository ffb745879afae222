/** Work that nobody waits for: so much of it at once, so much more waiting, and all of it ended when this is closed. */
export class Background {
  readonly #atOnce: number;
  readonly #waitingMost: number;
  readonly #waiting: (() => void)[] = [];
  readonly #running = new Set<Promise<void>>();
  readonly #stop = new AbortController();

  constructor({ atOnce, waiting }: { atOnce: number; waiting: number }) {
    this.#atOnce = atOnce;
    this.#waitingMost = waiting;
  }

  /** Takes work that never rejects; false when there is too much already. */
  start(work: (signal: AbortSignal) => Promise<void>): boolean {
    const go = () => {
      const running = work(this.#stop.signal).finally(() => {
        this.#running.delete(running);
        this.#waiting.shift()?.();
      });
      this.#running.add(running);
    };
    if (this.#stop.signal.aborted) return false;
    if (this.#running.size < this.#atOnce) go();
    else if (this.#waiting.length < this.#waitingMost) this.#waiting.push(go);
    else return false;
    return true;
  }

  /** What is under way now; what was started later is not waited for. */
  underWay(): Promise<unknown> {
    return Promise.all(this.#running);
  }

  /** Waits for all of it so long; then what waits is forgotten and what runs is told to stop. */
  async close(withinMs: number): Promise<void> {
    await within(withinMs, this.#drained());
    this.#waiting.length = 0;
    this.#stop.abort();
    await this.#drained();
  }

  async #drained(): Promise<void> {
    while (this.#running.size > 0) await Promise.race(this.#running);
  }
}

/** Waits for something, but not for ever. */
export function within(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(end, ms);
    work.then(end, end);
  });
}
