/** The end of what was written: bounded, however much it is. */
export class Tail {
  readonly #limit: number;
  #bytes: Buffer = Buffer.alloc(0);

  constructor(limit = 4_096) {
    this.#limit = limit;
  }

  add(chunk: Buffer): void {
    // A copy: a piece of the chunk would keep all of it in memory.
    this.#bytes = Buffer.from(Buffer.concat([this.#bytes, chunk]).subarray(-this.#limit));
  }

  text(): string {
    // A cut may fall inside a character, whose rest can't be read.
    return this.#bytes.toString("utf8").replace(/^\uFFFD{1,3}/, "");
  }
}
