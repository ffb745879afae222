/** Bounds on what one client can make the gateway hold or do. */
export interface Limits {
  /** Bytes of one message. */
  readonly messageBytes: number;
  /** Levels of nested objects and arrays in one message. */
  readonly depth: number;
  readonly batch: number;
  /** Characters of the answers to one batch; what comes after is not carried out. */
  readonly batchAnswer: number;
  /** Requests of one connection under way at once. */
  readonly inFlight: number;
  /** Requests a second of one connection, and how many may come at once. */
  readonly rate: number;
  readonly burst: number;
  /** Bytes waiting to be sent to one connection before it is dropped as too slow. */
  readonly sendQueueBytes: number;
  readonly connections: number;
  /** Sockets that are open, whatever comes over them: past the system's own bound no file could be opened either. */
  readonly sockets: number;
  /** Milliseconds that a request's headers may take to come in, and the whole of it. */
  readonly headersMs: number;
  readonly requestMs: number;
  readonly subscriptions: number;
}

export const defaultLimits: Limits = {
  messageBytes: 16 * 1024 * 1024,
  depth: 64,
  batch: 1_000,
  batchAnswer: 32 * 1024 * 1024,
  inFlight: 1_000,
  rate: 20_000,
  burst: 20_000,
  sendQueueBytes: 8 * 1024 * 1024,
  connections: 2_000,
  sockets: 3_000,
  headersMs: 10_000,
  requestMs: 30_000,
  subscriptions: 1_000,
};

/** A token bucket: refills steadily, empties with use. */
export class RateLimit {
  readonly #perMs: number;
  readonly #burst: number;
  #tokens: number;
  #at = performance.now();

  constructor({ rate, burst }: Pick<Limits, "rate" | "burst">) {
    this.#perMs = rate / 1000;
    this.#burst = burst;
    this.#tokens = burst;
  }

  take(): boolean {
    const now = performance.now();
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMs);
    this.#at = now;
    if (this.#tokens < 1) return false;
    this.#tokens--;
    return true;
  }
}
