import { statSync } from "node:fs";
import { join } from "node:path";
import { ENVELOPE, LOG } from "./layout.js";
import { type LogMark, markAt, onlyGrew } from "./log/mark.js";
import type { LogPager } from "./log/pager.js";
import { followFile, openLog } from "./log/read.js";
import type { Message, ThreadEnvelope } from "./schemas.js";
import { type Derived, derivedAtStart, derivedOf, deriveWith } from "./stats.js";
import { sameTime } from "./time.js";

interface Counted {
  readonly derived: Derived;
  /** How far the log is counted; undefined when there is none yet. */
  readonly mark: LogMark | undefined;
}

/** Keeps a thread's counts in step with its log, whoever appends to it. */
export class LogCounts {
  readonly #dir: string;
  readonly #log: string;
  readonly #pager: LogPager;
  #counted: Counted | undefined;

  constructor(dir: string, pager: LogPager) {
    this.#dir = dir;
    this.#log = join(dir, LOG);
    this.#pager = pager;
  }

  /** Undefined until something was counted. */
  get derived(): Derived | undefined {
    return this.#counted?.derived;
  }

  /** Takes over an envelope's counts where that is cheap. What has to be counted can wait until a message is on disk. */
  async prepare(envelope: () => Promise<ThreadEnvelope>): Promise<void> {
    if (this.#counted) return;
    const found = await envelope();
    const counted = await this.#countedBy(found);
    if (counted !== undefined) await this.#countFrom(derivedOf(found), counted);
    else if (!this.#size()) await this.countAnew(found);
  }

  /** Counts what others appended since; all of it when the log is not the one that was counted. */
  async catchUp(envelope: () => Promise<ThreadEnvelope>): Promise<Derived> {
    await this.prepare(envelope);
    const known = this.#counted;
    if (known && this.#isUpTo(known.mark)) return known.derived;
    if (known?.mark && (await this.#onlyGrew(known.mark)))
      return this.#countFrom(known.derived, known.mark.offset);
    return this.countAnew(await envelope());
  }

  /** Counts every line, whatever the envelope says. */
  countAnew(envelope: ThreadEnvelope): Promise<Derived> {
    return this.#countFrom(derivedAtStart(envelope), 0);
  }

  /** Our own messages were written, from an offset up to a mark. Behind what was counted, they count. */
  add(messages: readonly Message[], from: number, mark: LogMark): void {
    const known = this.#counted;
    const isNext = known?.mark ? known.mark.inode === mark.inode && known.mark.offset === from : from === 0;
    if (known && isNext) this.#counted = { derived: messages.reduce(deriveWith, known.derived), mark };
  }

  forget(): void {
    this.#counted = undefined;
  }

  #isUpTo(mark: LogMark | undefined): boolean {
    const found = statSync(this.#log, { throwIfNoEntry: false });
    return found?.ino === mark?.inode && (found?.size ?? 0) === (mark?.offset ?? 0);
  }

  #size(): number {
    return statSync(this.#log, { throwIfNoEntry: false })?.size ?? 0;
  }

  async #onlyGrew(mark: LogMark): Promise<boolean> {
    const file = await openLog(this.#log);
    if (!file) return false;
    try {
      return await onlyGrew(file, mark);
    } finally {
      await file.close();
    }
  }

  /**
   * How far an envelope's counts go. One that was written after the log and knows of its last message need not be checked
   * line by line. The time alone would not do: a writer that died before it counted may have written several messages
   * within one millisecond.
   */
  async #countedBy({ stats, updatedAt }: ThreadEnvelope): Promise<number | undefined> {
    const log = statSync(this.#log, { throwIfNoEntry: false });
    if (!log || stats.messageCount === 0) return undefined;
    if (statSync(join(this.#dir, ENVELOPE)).mtimeMs < log.mtimeMs) return undefined;
    const [last] = (await this.#pager.page(1)).entries;
    const time = last?.message.timestamp;
    return typeof time === "string" && sameTime(time, updatedAt) ? log.size : undefined;
  }

  /** Reads and marks through one handle: the log may be put aside meanwhile, and a mark must be of what was counted. */
  async #countFrom(derived: Derived, from: number): Promise<Derived> {
    const file = await openLog(this.#log);
    if (!file) {
      this.#counted = from === 0 ? { derived, mark: undefined } : undefined;
      return derived;
    }
    try {
      let counted = derived;
      let offset = from;
      for await (const entry of followFile(file, from)) {
        offset = entry.end;
        if ("message" in entry) counted = deriveWith(counted, entry.message);
      }
      this.#counted = { derived: counted, mark: await markAt(file, offset) };
      return counted;
    } finally {
      await file.close();
    }
  }
}
