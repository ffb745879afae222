import { onOneLine } from "./problem.js";

const MOST_BYTES = 2_048;

/** The end of what a program wrote, on one line: bounded, however much it is. */
export class WordTail {
  #bytes: Buffer = Buffer.alloc(0);

  add(chunk: Buffer): void {
    // A copy: a piece of the chunk would keep all of it in memory.
    this.#bytes = Buffer.from(
      Buffer.concat([this.#bytes, chunk.subarray(-MOST_BYTES)]).subarray(-MOST_BYTES),
    );
  }

  text(): string {
    // A cut may fall inside a character, whose rest can't be read.
    return onOneLine(this.#bytes.toString("utf8").replace(/^\uFFFD{1,3}/, ""));
  }
}
