import type { Readable } from "node:stream";

/** Chunks that are held before the sender is made to wait. */
const MOST_HELD = 64;

/**
 * Reads a body chunk by chunk. What had arrived before it broke off is given out before the error is thrown; iterating the
 * body itself would lose it.
 */
export class Chunks {
  readonly #body: Readable;
  readonly #held: Uint8Array[] = [];
  #end: { readonly error?: unknown } | undefined;
  #wake = () => {};

  constructor(body: Readable) {
    this.#body = body;
    body.on("data", (chunk: Uint8Array) => {
      this.#held.push(chunk);
      if (this.#held.length >= MOST_HELD) body.pause();
      this.#wake();
    });
    body.on("end", () => this.#finish({}));
    body.on("error", (error) => this.#finish({ error }));
    body.on("close", () => this.#finish({ error: new Error("closed") }));
  }

  /** Answers undefined at the end. */
  async next(): Promise<Uint8Array | undefined> {
    while (this.#held.length === 0 && this.#end === undefined) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const chunk = this.#held.shift();
    if (this.#held.length === 0 && this.#body.isPaused()) this.#body.resume();
    if (chunk === undefined && this.#end && "error" in this.#end) throw this.#end.error;
    return chunk;
  }

  /** Reads on without looking, so that the connection can be used again; gives up after a while. */
  drain(withinMs: number): void {
    if (this.#end) return;
    const timer = setTimeout(() => this.#body.destroy(), withinMs);
    this.#body.once("close", () => clearTimeout(timer));
    this.#body.removeAllListeners("data").resume();
  }

  #finish(end: { readonly error?: unknown }): void {
    this.#end ??= end;
    this.#wake();
  }
}
