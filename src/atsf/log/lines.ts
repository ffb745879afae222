import type { FileHandle } from "node:fs/promises";

/** A line of a log by its bytes, without its line end. */
export interface RawLine {
  readonly offset: number;
  readonly bytes: Buffer;
  /** False only for a last line that its writer has not ended. */
  readonly ended: boolean;
}

const CHUNK = 64 * 1024;
const NEWLINE = 0x0a;

/** Lines from an offset on. However long one is, its parts are joined once. */
export async function* linesForward(file: FileHandle, start: number, end: number): AsyncGenerator<RawLine> {
  let parts: Buffer[] = [];
  let lineStart = start;
  for (let at = start; at < end; ) {
    const chunk = await readChunk(file, at, Math.min(end, at + CHUNK));
    if (chunk.length === 0) break;
    let from = 0;
    for (let stop = chunk.indexOf(NEWLINE); stop !== -1; stop = chunk.indexOf(NEWLINE, from)) {
      parts.push(chunk.subarray(from, stop));
      yield { offset: lineStart, bytes: joined(parts), ended: true };
      parts = [];
      from = stop + 1;
      lineStart = at + from;
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
    at += chunk.length;
  }
  if (parts.length > 0) yield { offset: lineStart, bytes: joined(parts), ended: false };
}

/** Lines from the last one before `end` to the first: the end of a long log is had without reading all of it. */
export async function* linesBackward(file: FileHandle, end: number): AsyncGenerator<RawLine> {
  let parts: Buffer[] = [];
  let ended = false;
  let sawAny = false;
  for (let at = end; at > 0; ) {
    const from = Math.max(0, at - CHUNK);
    const chunk = await readChunk(file, from, at);
    let stop = chunk.length;
    for (let newline = chunk.lastIndexOf(NEWLINE); newline !== -1; newline = lastBefore(chunk, newline)) {
      parts.unshift(chunk.subarray(newline + 1, stop));
      const bytes = joined(parts);
      // Nothing stands behind the last line end: that is no line.
      if (sawAny || bytes.length > 0) yield { offset: from + newline + 1, bytes, ended };
      sawAny = true;
      parts = [];
      ended = true;
      stop = newline;
    }
    if (stop > 0) parts.unshift(chunk.subarray(0, stop));
    at = from;
  }
  if (parts.length > 0 || (sawAny && end > 0)) yield { offset: 0, bytes: joined(parts), ended };
}

function lastBefore(chunk: Buffer, index: number): number {
  return index === 0 ? -1 : chunk.lastIndexOf(NEWLINE, index - 1);
}

function joined(parts: Buffer[]): Buffer {
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts);
}

async function readChunk(file: FileHandle, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(to - from);
  let filled = 0;
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
