import type { FileHandle } from "node:fs/promises";
import { readChunk } from "./lines.js";

/** How far a log was read, and what stood there: another program may rewrite a log under its name. */
export interface LogMark {
  readonly inode: number;
  readonly offset: number;
  /** The bytes just before the offset. */
  readonly tail: Buffer;
}

const TAIL = 256;

export async function markAt(file: FileHandle, offset: number): Promise<LogMark> {
  const { ino: inode } = await file.stat();
  return { inode, offset, tail: await readChunk(file, Math.max(0, offset - TAIL), offset) };
}

/** The same mark after lines were written behind it. */
export function markBehind(inode: number, offset: number, written: Buffer): LogMark {
  return { inode, offset, tail: Buffer.from(written.subarray(-TAIL)) };
}

/** Whether the log has only grown since: what was read then still stands there. */
export async function onlyGrew(file: FileHandle, mark: LogMark): Promise<boolean> {
  const { ino, size } = await file.stat();
  if (ino !== mark.inode || size < mark.offset) return false;
  const now = await readChunk(file, mark.offset - mark.tail.length, mark.offset);
  return now.equals(mark.tail);
}
