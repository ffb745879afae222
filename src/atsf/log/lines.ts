import type { FileHandle } from "node:fs/promises";

/** A line of a log by its bytes, without its line end. */
export interface RawLine {
  readonly offset: number;
  /** Behind its line end: where the next line begins. */
  readonly end: number;
  /** Empty when it is too long. */
  readonly bytes: Buffer;
  /** False only for a last line that its writer has not ended. */
  readonly ended: boolean;
  /** It is longer than a reader holds in memory. */
  readonly tooLong: boolean;
}

const CHUNK = 64 * 1024;
const NEWLINE = 0x0a;

/** A line past this is told, skipped and never held: it could not become a string anyway. */
export const LONGEST_LINE = 256 * 1024 * 1024;

/** Lines from an offset on. However long one is, its parts are joined once. */
export async function* linesForward(
  file: FileHandle,
  start: number,
  end: number,
  longest = LONGEST_LINE,
): AsyncGenerator<RawLine> {
  const parts = new Parts(longest);
  let offset = start;
  for (let at = start; at < end; ) {
    const chunk = await readChunk(file, at, Math.min(end, at + CHUNK));
    if (chunk.length === 0) break;
    let from = 0;
    for (let stop = chunk.indexOf(NEWLINE); stop !== -1; stop = chunk.indexOf(NEWLINE, from)) {
      parts.append(chunk.subarray(from, stop));
      from = stop + 1;
      yield { offset, end: at + from, ended: true, ...parts.take() };
      offset = at + from;
    }
    parts.append(chunk.subarray(from));
    at += chunk.length;
  }
  if (parts.length > 0) yield { offset, end: offset + parts.length, ended: false, ...parts.take() };
}

/** Lines from the last one before `end` to the first: the end of a long log is had without reading all of it. */
export async function* linesBackward(
  file: FileHandle,
  end: number,
  longest = LONGEST_LINE,
): AsyncGenerator<RawLine> {
  const parts = new Parts(longest);
  let lineEnd = end;
  let ended = false;
  let sawAny = false;
  for (let at = end; at > 0; ) {
    const from = Math.max(0, at - CHUNK);
    const chunk = await readChunk(file, from, at);
    let stop = chunk.length;
    for (let newline = chunk.lastIndexOf(NEWLINE); newline !== -1; newline = lastBefore(chunk, newline)) {
      parts.prepend(chunk.subarray(newline + 1, stop));
      const offset = from + newline + 1;
      // Nothing stands behind the last line end: that is no line.
      if (sawAny || parts.length > 0) yield { offset, end: lineEnd, ended, ...parts.take() };
      sawAny = true;
      ended = true;
      lineEnd = offset;
      stop = newline;
    }
    parts.prepend(chunk.subarray(0, stop));
    at = from;
  }
  if (parts.length > 0 || sawAny) yield { offset: 0, end: lineEnd, ended, ...parts.take() };
}

/** The pieces of a line, from as many chunks as it goes through. Past its budget only their length is kept. */
class Parts {
  length = 0;
  #parts: Buffer[] = [];
  readonly #longest: number;

  constructor(longest: number) {
    this.#longest = longest;
  }

  append(part: Buffer): void {
    if (this.#count(part)) this.#parts.push(part);
  }

  prepend(part: Buffer): void {
    if (this.#count(part)) this.#parts.unshift(part);
  }

  take(): { bytes: Buffer; tooLong: boolean } {
    const tooLong = this.length > this.#longest;
    const [only] = this.#parts;
    const bytes = this.#parts.length === 1 ? (only as Buffer) : Buffer.concat(this.#parts);
    this.#parts = [];
    this.length = 0;
    return { bytes, tooLong };
  }

  #count(part: Buffer): boolean {
    this.length += part.length;
    if (this.length > this.#longest) this.#parts = [];
    return part.length > 0 && this.length <= this.#longest;
  }
}

function lastBefore(chunk: Buffer, index: number): number {
  return index === 0 ? -1 : chunk.lastIndexOf(NEWLINE, index - 1);
}

/** Fewer bytes than asked for when the file has been cut meanwhile. */
export async function readChunk(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(to - from);
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
