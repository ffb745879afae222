import type { FileHandle } from "node:fs/promises";
import { Turns } from "../../base/index.js";
import type { Message } from "../schemas.js";
import { linesBackward, linesForward } from "./lines.js";
import { type LogMark, markAt, onlyGrew } from "./mark.js";
import { type LogEntry, parseLine } from "./parse.js";
import { openLog } from "./read.js";

interface PageEntry {
  readonly offset: number;
  readonly message: Message;
}

export interface LogPage {
  /** Newest first. */
  readonly entries: readonly PageEntry[];
  /** Where the next page (of older messages) begins; undefined when there is none. */
  readonly before: number | undefined;
  /** Names the file the offsets belong to: another name means that the log was replaced. Empty: there is none. */
  readonly log: string;
}

export interface ForwardLogPage {
  /** Oldest first. */
  readonly entries: readonly PageEntry[];
  /** Where the next page (of newer messages) begins; undefined when there is none. */
  readonly after: number | undefined;
  /** As in `LogPage`. */
  readonly log: string;
}

export interface PageOptions {
  /** A page ends before its lines come to more than this, but never without a message. Default: 8 MB. */
  readonly maxBytes?: number;
}

const PAGE_BYTES = 8 * 1024 * 1024;

/** What is known of a log from its end down to `low`: enough to tell which of two lines with one id counts. */
interface Known {
  mark: LogMark;
  low: number;
  /** Offset of the last line of each id. */
  readonly last: Map<string, number>;
}

/**
 * Reads a log page by page from either end. It remembers the ids it came by, so that a message that was written again later
 * is not shown twice; what it remembers can be thrown away at any time.
 */
export class LogPager {
  readonly #path: string;
  readonly #longest: number | undefined;
  readonly #turns = new Turns();
  #known: Known | undefined;

  constructor(path: string, longest?: number) {
    this.#path = path;
    this.#longest = longest;
  }

  /** The newest messages, or those before an offset that a page answered. */
  page(limit: number, before?: number, { maxBytes = PAGE_BYTES }: PageOptions = {}): Promise<LogPage> {
    const none: LogPage = { entries: [], before: undefined, log: "" };
    return this.#read(none, async (file, known, log) => {
      const end = Math.min(before ?? known.mark.offset, known.mark.offset);
      await this.#knowDownTo(file, known, end);
      const page = new Gathered(limit, maxBytes);
      for await (const line of linesBackward(file, end, this.#longest)) {
        const entry = parseLine(line);
        if (line.offset < known.low) {
          rememberOlder(known, entry);
          known.low = line.offset;
        }
        if (counts(known, entry) && !page.add(entry, line.end)) break;
      }
      return { entries: page.entries, before: page.full ? page.entries.at(-1)?.offset : undefined, log };
    });
  }

  /** The oldest messages, or those after an offset that a page answered. The first one reads the ids of the whole log. */
  pageForward(
    limit: number,
    after = 0,
    { maxBytes = PAGE_BYTES }: PageOptions = {},
  ): Promise<ForwardLogPage> {
    const none: ForwardLogPage = { entries: [], after: undefined, log: "" };
    return this.#read(none, async (file, known, log) => {
      const start = Math.max(0, after);
      await this.#knowDownTo(file, known, start);
      const page = new Gathered(limit, maxBytes);
      for await (const line of linesForward(file, start, known.mark.offset, this.#longest)) {
        const entry = parseLine(line);
        if (counts(known, entry) && !page.add(entry, line.end)) break;
      }
      return { entries: page.entries, after: page.full ? page.end : undefined, log };
    });
  }

  forget(): void {
    this.#known = undefined;
  }

  /** One page at a time: what another one learns of newer lines in between would hide messages from this one. */
  #read<T>(none: T, work: (file: FileHandle, known: Known, log: string) => Promise<T>): Promise<T> {
    return this.#turns.run("page", async () => {
      const file = await openLog(this.#path);
      if (!file) return none;
      try {
        const known = await this.#refresh(file);
        return await work(file, known, String(known.mark.inode));
      } finally {
        await file.close();
      }
    });
  }

  /** A log that was replaced, cut or rewritten is looked at anew: offsets of the old one would hide messages. */
  async #refresh(file: FileHandle): Promise<Known> {
    const { size } = await file.stat();
    const known = this.#known;
    if (!known || !(await onlyGrew(file, known.mark))) {
      const fresh = { mark: await markAt(file, size), low: size, last: new Map() };
      this.#known = fresh;
      return fresh;
    }
    if (size > known.mark.offset) {
      const from = await lineStart(file, known.mark.offset);
      for await (const line of linesForward(file, from, size, this.#longest))
        remember(known, parseLine(line));
      known.mark = await markAt(file, size);
    }
    return known;
  }

  async #knowDownTo(file: FileHandle, known: Known, offset: number): Promise<void> {
    if (offset >= known.low) return;
    for await (const line of linesBackward(file, known.low, this.#longest)) {
      if (line.offset < offset) break;
      rememberOlder(known, parseLine(line));
      known.low = line.offset;
    }
  }
}

/** The entries of a page: as many as asked for, and no more bytes than the budget, but one at least. */
class Gathered {
  readonly entries: PageEntry[] = [];
  /** Behind the last entry. */
  end = 0;
  /** Something more was there. */
  full = false;
  #bytes = 0;
  readonly #limit: number;
  readonly #maxBytes: number;

  constructor(limit: number, maxBytes: number) {
    this.#limit = Math.max(1, limit);
    this.#maxBytes = maxBytes;
  }

  add(entry: PageEntry, end: number): boolean {
    this.#bytes += end - entry.offset;
    const { length } = this.entries;
    this.full = length >= this.#limit || (length > 0 && this.#bytes > this.#maxBytes);
    if (this.full) return false;
    this.entries.push(entry);
    this.end = end;
    return true;
  }
}

/** What was unfinished when the log was last looked at begins before its end. */
async function lineStart(file: FileHandle, offset: number): Promise<number> {
  for await (const line of linesBackward(file, offset)) return line.ended ? offset : line.offset;
  return 0;
}

function counts(known: Known, entry: LogEntry | undefined): entry is PageEntry {
  return entry !== undefined && "message" in entry && known.last.get(entry.message.id) === entry.offset;
}

function remember(known: Known, entry: LogEntry | undefined): void {
  if (entry && "message" in entry) known.last.set(entry.message.id, entry.offset);
}

function rememberOlder(known: Known, entry: LogEntry | undefined): void {
  if (entry && "message" in entry && !known.last.has(entry.message.id)) remember(known, entry);
}
