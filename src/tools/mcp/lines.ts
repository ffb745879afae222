/** Cuts a stream of bytes into lines, of which none is longer than a limit. */
export class LineCutter {
  readonly #most: number;
  #begun: Buffer[] = [];
  #length = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** The lines that are whole now; undefined when one is too long: whatever follows can't be understood any more. */
  add(chunk: Buffer): string[] | undefined {
    const lines: string[] = [];
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      const last = chunk.subarray(from, end);
      if (this.#length + last.length > this.#most) return undefined;
      lines.push(Buffer.concat([...this.#begun, last]).toString("utf8"));
      this.#begun = [];
      this.#length = 0;
      from = end + 1;
    }
    const rest = chunk.subarray(from);
    if (rest.length > 0) this.#begun.push(rest);
    this.#length += rest.length;
    return this.#length > this.#most ? undefined : lines;
  }
}
