/**
 * Server-sent events out of bytes, however they are cut: lines may end with LF, CR or CRLF, a byte order mark may lead, a
 * character may be split between two chunks.
 */
export class EventReader {
  readonly #limit: number;
  readonly #decoder = new TextDecoder();
  /** The line that is not complete yet. Appending to it is cheap however long it grows. */
  #line = "";
  #data: string[] = [];
  #dataLength = 0;
  #afterReturn = false;

  /** `limit`: characters of one event; more is refused, so that no server can fill the memory. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The data of each event that these bytes complete. */
  push(bytes: Uint8Array): string[] {
    const events: string[] = [];
    this.#read(this.#decoder.decode(bytes, { stream: true }), events);
    return events;
  }

  /** What a server left without the empty line that ends an event. It may be the beginning of one that was cut. */
  end(): string | undefined {
    const events: string[] = [];
    this.#read(`${this.#decoder.decode()}\n\n`, events);
    return events[0];
  }

  #read(text: string, events: string[]): void {
    let from = this.#afterReturn && text.startsWith("\n") ? 1 : 0;
    if (text !== "") this.#afterReturn = false;
    while (from < text.length) {
      const end = lineEnd(text, from);
      this.#line += text.slice(from, end);
      this.#check();
      if (end === text.length) return;
      this.#take(this.#line, events);
      this.#line = "";
      from = end + 1;
      if (text[end] !== "\r") continue;
      if (from === text.length) this.#afterReturn = true;
      else if (text[from] === "\n") from += 1;
    }
  }

  #take(line: string, events: string[]): void {
    if (line === "") {
      if (this.#data.length > 0) events.push(this.#data.join("\n"));
      this.#data = [];
      this.#dataLength = 0;
    } else if (line === "data" || line.startsWith("data:")) {
      const value = line.slice(line[5] === " " ? 6 : 5);
      this.#data.push(value);
      this.#dataLength += value.length + 1;
    }
  }

  #check(): void {
    if (this.#line.length + this.#dataLength > this.#limit) throw new EventTooLarge();
  }
}

export class EventTooLarge extends Error {
  override readonly name = "EventTooLarge";
}

function lineEnd(text: string, from: number): number {
  const feed = text.indexOf("\n", from);
  const end = feed === -1 ? text.length : feed;
  const carriage = text.indexOf("\r", from);
  return carriage === -1 || carriage > end ? end : carriage;
}
