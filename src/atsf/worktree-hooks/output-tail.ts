/** The end of an output of any length: memory stays bounded however much is written. */
export class OutputTail {
  readonly #limit: number;
  #chunks: Buffer[] = [];
  #kept = 0;
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** How much there was in all. */
  get bytes(): number {
    return this.#bytes;
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    this.#kept += chunk.length;
    this.#chunks.push(chunk);
    // Joined at twice the limit: a command that writes byte by byte costs no joining per byte and no list per byte.
    if (this.#kept > 2 * this.#limit || this.#chunks.length > 1024) this.#join();
  }

  text(): string {
    const joined = this.#join();
    return joined.toString("utf8", this.#bytes > joined.length ? characterStart(joined) : 0);
  }

  /** A copy, so that the large buffer a chunk was cut from can be freed. */
  #join(): Buffer {
    const all = Buffer.concat(this.#chunks);
    const tail = Buffer.from(all.subarray(Math.max(0, all.length - this.#limit)));
    this.#chunks = [tail];
    this.#kept = tail.length;
    return tail;
  }
}

/** A cut may fall inside a character; the rest of that one is left out. */
function characterStart(bytes: Buffer): number {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return start;
}
