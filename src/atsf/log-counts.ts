import { statSync } from "node:fs";
import { join } from "node:path";
import { ENVELOPE, LOG } from "./layout.js";
import { type LogMark, markAt, onlyGrew } from "./log/mark.js";
import type { LogPager } from "./log/pager.js";
import { followLog, openLog } from "./log/read.js";
import type { Message, ThreadEnvelope } from "./schemas.js";
import { type Derived, derivedAtStart, derivedOf, deriveWith } from "./stats.js";
import { sameTime } from "./time.js";

interface Counted {
  readonly derived: Derived;
  /** How far the log is counted; undefined when there is none yet. */
  readonly mark: LogMark | undefined;
}

/** Keeps a thread's counts in step with its log, whoever appends to it. The caller holds the thread's lock. */
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

  /** Counts what others appended since; all of it when the log is not the one that was counted. */
  async catchUp(envelope: () => Promise<ThreadEnvelope>): Promise<Derived> {
    const known = this.#counted;
    if (known && this.#isUpTo(known.mark)) return known.derived;
    if (known?.mark && (await this.#onlyGrew(known.mark)))
      return this.#countFrom(known.derived, known.mark.offset);
    const found = await envelope();
    const counted = await this.#countedBy(found);
    return counted === undefined ? this.countAnew(found) : this.#countFrom(derivedOf(found), counted);
  }

  /** Counts every line, whatever the envelope says. */
  countAnew(envelope: ThreadEnvelope): Promise<Derived> {
    return this.#countFrom(derivedAtStart(envelope), 0);
  }

  /** Our own messages were written, up to a mark. */
  add(messages: readonly Message[], mark: LogMark): void {
    const known = this.#counted as Counted;
    this.#counted = { derived: messages.reduce(deriveWith, known.derived), mark };
  }

  forget(): void {
    this.#counted = undefined;
  }

  #isUpTo(mark: LogMark | undefined): boolean {
    const found = statSync(this.#log, { throwIfNoEntry: false });
    return found?.ino === mark?.inode && (found?.size ?? 0) === (mark?.offset ?? 0);
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

  async #countFrom(derived: Derived, from: number): Promise<Derived> {
    let counted = derived;
    let offset = from;
    for await (const entry of followLog(this.#log, from)) {
      offset = entry.end;
      if ("message" in entry) counted = deriveWith(counted, entry.message);
    }
    const file = await openLog(this.#log);
    const mark = file && (await markAt(file, offset).finally(() => file.close()));
    this.#counted = { derived: counted, mark };
    return counted;
  }
}
