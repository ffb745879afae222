/** The beginning and the end of an output of any length: memory stays bounded however much is written. */
export class KeptOutput {
  readonly #headBytes: number;
  readonly #tailBytes: number;
  #head = Buffer.alloc(0);
  #tail: Buffer[] = [];
  #tailLength = 0;
  #bytes = 0;

  constructor(most: { readonly head: number; readonly tail: number }) {
    this.#headBytes = most.head;
    this.#tailBytes = most.tail;
  }

  /** How much there was in all. */
  get bytes(): number {
    return this.#bytes;
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    const room = this.#headBytes - this.#head.length;
    if (room > 0) this.#head = Buffer.concat([this.#head, chunk.subarray(0, room)]);
    const rest = chunk.subarray(Math.max(0, room));
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailLength += rest.length;
    // Joined at twice the limit: who writes byte by byte costs no joining per byte and no list per byte.
    if (this.#tailLength > 2 * this.#tailBytes || this.#tail.length > 1024) this.#join();
  }

  /** Well-formed text; what was left out in the middle is counted in bytes where it was. */
  text(): { readonly text: string; readonly cut: boolean } {
    const tail = this.#join();
    const whole = Buffer.concat([this.#head, tail]);
    const text = whole.toString("utf8");
    const most = this.#headBytes + this.#tailBytes;
    if (this.#bytes === whole.length && Buffer.byteLength(text) <= most) return { text, cut: false };
    const head = beginning(this.#head, this.#headBytes);
    const end = ending(tail, this.#tailBytes);
    const missing = this.#bytes - head.taken - end.taken;
    return { text: `${head.text}\n[… ${missing} bytes left out …]\n${end.text}`, cut: true };
  }

  /** A copy, so that the large buffer a chunk was cut from can be freed. */
  #join(): Buffer {
    const all = Buffer.concat(this.#tail);
    const kept = Buffer.from(all.subarray(Math.max(0, all.length - this.#tailBytes)));
    this.#tail = [kept];
    this.#tailLength = kept.length;
    return kept;
  }
}

interface Part {
  readonly text: string;
  /** Bytes of the output that it stands for. */
  readonly taken: number;
}

/** Whole characters, and no more bytes as text than as output: what is no UTF-8 takes three times as many as text. */
function beginning(bytes: Buffer, most: number): Part {
  let taken = bytes.length;
  while (taken > 0 && (bytes[taken - 1] as number) >= 0x80 && taken > bytes.length - 4) taken--;
  return fitting(taken, most, (count) => bytes.subarray(0, count));
}

function ending(bytes: Buffer, most: number): Part {
  let skipped = 0;
  while (skipped < 3 && ((bytes[skipped] ?? 0) & 0xc0) === 0x80) skipped++;
  return fitting(bytes.length - skipped, most, (count) => bytes.subarray(bytes.length - count));
}

function fitting(most: number, mostBytes: number, part: (count: number) => Buffer): Part {
  for (let count = most; ; count = Math.floor(count / 2)) {
    const text = part(count).toString("utf8");
    if (Buffer.byteLength(text) <= mostBytes) return { text, taken: count };
  }
}
