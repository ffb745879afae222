import { closeSync } from "node:fs";
import { dirname, join } from "node:path";
import { diskError } from "../disk.js";
import { LOG } from "../layout.js";
import { openRegularNow, readBetween } from "../regular-file.js";
import { parseLine } from "./parse.js";
import type { FollowedEntry } from "./read.js";

/** So much is read at once without anyone waiting for it. */
const PIECE = 64 * 1024;
const NEWLINE = 0x0a;

/**
 * What stands behind an offset of a log, read in one go: a way through the pool for a few lines takes longer than reading
 * them. Undefined when there is more than a piece.
 */
export function readBehind(path: string, from: number): FollowedEntry[] | undefined {
  const found = withLog(path, (file, size) => ({
    entries: size - from > PIECE ? undefined : entriesIn(file, from, size),
  }));
  return found ? found.entries : [];
}

export interface LogEnd {
  readonly entries: readonly FollowedEntry[];
  /** The entries are all there is. */
  readonly whole: boolean;
}

/** The last lines of a log, as many as fit into a piece. */
export function readEnd(path: string): LogEnd {
  const found = withLog(path, (file, size) => {
    const start = Math.max(0, size - PIECE);
    if (start === 0) return { entries: entriesIn(file, 0, size), whole: true };
    const skipped = readBetween(file, start, size).indexOf(NEWLINE);
    if (skipped === -1) return { entries: [], whole: false };
    return { entries: entriesIn(file, start + skipped + 1, size), whole: false };
  });
  return found ?? { entries: [], whole: true };
}

/** The bytes of a thread's log between two offsets; fewer, or none, where it ends before. */
export function readLogBytes(dir: string, from: number, to: number): Buffer {
  return withLog(join(dir, LOG), (file) => readBetween(file, from, to)) ?? Buffer.alloc(0);
}

/** Undefined when there is no log. */
function withLog<T>(path: string, work: (file: number, size: number) => T): T | undefined {
  const opened = openRegularNow(path, dirname(path));
  if (!opened) return undefined;
  try {
    return work(opened.file, opened.size);
  } catch (error) {
    throw diskError(error, path, "read");
  } finally {
    closeSync(opened.file);
  }
}

/** A torn last line is neither told nor passed, as everywhere. */
function entriesIn(file: number, from: number, to: number): FollowedEntry[] {
  const bytes = readBetween(file, from, to);
  const entries: FollowedEntry[] = [];
  for (let start = 0; start < bytes.length; ) {
    const stop = bytes.indexOf(NEWLINE, start);
    const ended = stop !== -1;
    const end = ended ? stop : bytes.length;
    const behind = from + end + (ended ? 1 : 0);
    const line = {
      offset: from + start,
      end: behind,
      bytes: bytes.subarray(start, end),
      ended,
      tooLong: false,
    };
    const entry = parseLine(line);
    if (entry && (ended || !("problem" in entry))) entries.push({ ...entry, end: behind });
    start = end + 1;
  }
  return entries;
}
