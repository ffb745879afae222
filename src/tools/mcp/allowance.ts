const BYTES = { burst: 32 * 1024 * 1024, perMs: 8 * 1024 };
/** A line costs more than its bytes: it has to be read and understood. */
const LINES = { burst: 2_000, perMs: 0.5 };

/** How much a server may say in which time. One that talks without end then waits in its pipe, and nobody else does. */
export class Allowance {
  #bytes = BYTES.burst;
  #lines = LINES.burst;
  #at = performance.now();

  /** Answers the milliseconds to wait before anything more is read. */
  take(bytes: number, lines = 0): number {
    const now = performance.now();
    const passed = now - this.#at;
    this.#at = now;
    this.#bytes = Math.min(BYTES.burst, this.#bytes + passed * BYTES.perMs) - bytes;
    this.#lines = Math.min(LINES.burst, this.#lines + passed * LINES.perMs) - lines;
    return Math.ceil(Math.max(0, -this.#bytes / BYTES.perMs, -this.#lines / LINES.perMs));
  }
}
