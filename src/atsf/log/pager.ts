import type { FileHandle } from "node:fs/promises";
import { open } from "node:fs/promises";
import { isMissing } from "../files.js";
import type { Message } from "../schemas.js";
import { linesBackward, linesForward } from "./lines.js";
import { type LogEntry, parseLine } from "./parse.js";

export interface LogPage {
  /** Newest first. */
  readonly entries: readonly { readonly offset: number; readonly message: Message }[];
  /** Where the next page (of older messages) begins; undefined when there is none. */
  readonly before: number | undefined;
}

/** What is known of a log from its end down to `low`: enough to tell which of two lines with one id counts. */
interface Known {
  readonly inode: number;
  size: number;
  low: number;
  /** Offset of the last line of each id. */
  readonly last: Map<string, number>;
}

/**
 * Reads a log page by page from its end. It remembers the ids it came by, so that a message that was written again later is
 * not shown twice; what it remembers can be thrown away at any time.
 */
export class LogPager {
  readonly #path: string;
  #known: Known | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** The newest messages, or those before an offset that a page answered. */
  async page(limit: number, before?: number): Promise<LogPage> {
    const file = await openLog(this.#path);
    if (!file) return { entries: [], before: undefined };
    try {
      const known = await this.#refresh(file);
      const end = Math.min(before ?? known.size, known.size);
      if (end < known.low) await scanDown(file, known, end);
      return await readPage(file, known, end, limit);
    } finally {
      await file.close();
    }
  }

  async #refresh(file: FileHandle): Promise<Known> {
    const { ino: inode, size } = await file.stat();
    const known = this.#known;
    if (!known || known.inode !== inode || size < known.size) {
      this.#known = { inode, size, low: size, last: new Map() };
      return this.#known;
    }
    if (size > known.size) {
      for await (const line of linesForward(file, await lineStart(file, known.size), size))
        remember(known, parseLine(line));
      known.size = size;
    }
    return known;
  }
}

/** What was unfinished when the log was last looked at begins before its end. */
async function lineStart(file: FileHandle, offset: number): Promise<number> {
  for await (const line of linesBackward(file, offset)) return line.ended ? offset : line.offset;
  return 0;
}

async function scanDown(file: FileHandle, known: Known, to: number): Promise<void> {
  for await (const line of linesBackward(file, known.low)) {
    if (line.offset < to) break;
    rememberOlder(known, parseLine(line));
    known.low = line.offset;
  }
}

async function readPage(file: FileHandle, known: Known, end: number, limit: number): Promise<LogPage> {
  const entries: { offset: number; message: Message }[] = [];
  for await (const line of linesBackward(file, end)) {
    const entry = parseLine(line);
    if (line.offset < known.low) {
      rememberOlder(known, entry);
      known.low = line.offset;
    }
    if (!entry || !("message" in entry) || known.last.get(entry.message.id) !== entry.offset) continue;
    if (entries.length === limit) return { entries, before: entries.at(-1)?.offset };
    entries.push(entry);
  }
  return { entries, before: undefined };
}

function remember(known: Known, entry: LogEntry | undefined): void {
  if (entry && "message" in entry) known.last.set(entry.message.id, entry.offset);
}

function rememberOlder(known: Known, entry: LogEntry | undefined): void {
  if (entry && "message" in entry && !known.last.has(entry.message.id)) remember(known, entry);
}

/** Undefined when there is no log yet. */
export async function openLog(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, "r");
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
