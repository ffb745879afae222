import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Accepted, acceptMessage } from "./accept.js";
import { bringLogBack, lastAside, setLogAside } from "./aside.js";
import { readAsset, saveAsset } from "./assets.js";
import { assertInside, isPlainlyInside } from "./confined.js";
import { reading } from "./disk.js";
import { changeEnvelope, type EnvelopeChanges, readEnvelope, readOnlyThread } from "./envelope.js";
import { atsfError } from "./errors.js";
import { hideFromGit } from "./gitignore.js";
import type { JsonChange } from "./json-text.js";
import { ENVELOPE, LOG } from "./layout.js";
import type { ThreadLocks } from "./lock.js";
import { type ForwardLogPage, type LogPage, LogPager, type PageOptions } from "./log/pager.js";
import { type LogEnd, readBehind, readEnd } from "./log/piece.js";
import {
  type FollowedEntry,
  followLog,
  type LogState,
  logState,
  readLog,
  readMessageAt,
  streamLog,
  type WholeLog,
} from "./log/read.js";
import { LogWriter } from "./log/writer.js";
import { LogCounts } from "./log-counts.js";
import type { Message, ThreadEnvelope } from "./schemas.js";
import { derivedAtStart, derivedChanges, derivedOf, sameDerived } from "./stats.js";

export interface ThreadDeps {
  readonly locks: ThreadLocks;
  readonly now: () => number;
  /** Told whenever the thread is about to hold a file open. */
  readonly onUse?: (thread: Thread) => void;
}

/** How long after an append the counts in `thread.json` follow; they are only a cache of the log. */
const DERIVED_MS = 500;
const PAGE = 50;
const BATCH_CHARACTERS = 16 * 1024 * 1024;
const KEPT_LINES = 16 * 1024;

/** Told when a message stands in the log and is perhaps not flushed: a power cut may take it back. */
type Ahead = (message: Message) => void;

interface Waiting extends Accepted {
  readonly ahead: Ahead | undefined;
  readonly resolve: (message: Message) => void;
  readonly reject: (error: unknown) => void;
}

/** One thread in its directory: read it, append to it, change what is known of it. Closed, it opens again on use. */
export class Thread {
  readonly id: string;
  readonly dir: string;
  readonly #deps: ThreadDeps;
  readonly #log: string;
  readonly #writer: LogWriter;
  readonly #pager: LogPager;
  readonly #counts: LogCounts;
  #accepting: Promise<unknown> = Promise.resolve();
  #waiting: Waiting[] = [];
  #draining: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #flushing: Promise<void> = Promise.resolve();
  #seen = "";
  #hidden = false;
  /** What was appended last, as long as nothing else was done to the log. */
  #appended:
    | {
        readonly from: number;
        readonly state: string;
        readonly lines: string;
        readonly entries: FollowedEntry[];
      }
    | undefined;

  constructor(id: string, dir: string, deps: ThreadDeps) {
    this.id = id;
    this.dir = dir;
    this.#deps = deps;
    this.#log = join(dir, LOG);
    this.#writer = new LogWriter(this.#log, deps.now);
    this.#pager = new LogPager(this.#log);
    this.#counts = new LogCounts(dir, this.#pager);
  }

  async envelope(): Promise<ThreadEnvelope> {
    await assertInside(this.dir, join(this.dir, ENVELOPE));
    return (await readEnvelope(this.dir)).envelope;
  }

  /** All messages, oldest first. For long threads prefer `page` or `stream`. */
  async read(): Promise<WholeLog> {
    await assertInside(this.dir, this.#log);
    return readLog(this.#log);
  }

  /** The newest messages, newest first; `before` of one page gives the next. Reads the end of the log, not all of it. */
  async page(limit = PAGE, before?: number, options?: PageOptions): Promise<LogPage> {
    await assertInside(this.dir, this.#log);
    return this.#pager.page(limit, before, options);
  }

  /** The oldest messages, oldest first; `after` of one page gives the next. */
  async pageForward(limit = PAGE, after?: number, options?: PageOptions): Promise<ForwardLogPage> {
    await assertInside(this.dir, this.#log);
    return this.#pager.pageForward(limit, after, options);
  }

  /** The message whose line begins at an offset that a page answered; undefined when none does. */
  async readAt(offset: number): Promise<Message | undefined> {
    await assertInside(this.dir, this.#log);
    return readMessageAt(this.#log, offset);
  }

  /** Line by line from the beginning, broken ones included. */
  async *stream(): ReturnType<typeof streamLog> {
    await assertInside(this.dir, this.#log);
    yield* streamLog(this.#log);
  }

  /** Tells one state of the log from another; undefined when there is none. */
  async logState(): Promise<LogState | undefined> {
    await assertInside(this.dir, this.#log);
    return logState(this.#log);
  }

  /** What stands in the log behind an offset: 0, or the `end` of an entry. A torn last line is not passed. */
  async *newMessages(from: number): AsyncGenerator<FollowedEntry> {
    await assertInside(this.dir, this.#log);
    yield* followLog(this.#log, from);
  }

  /** The same at once, where there is little of it; undefined where there is more, or the log is a link. */
  newMessagesNow(from: number): readonly FollowedEntry[] | undefined {
    const last = this.#appended;
    if (last?.from === from && last.state === stamp(this.#log)) return last.entries;
    return this.#isPlain() ? readBehind(this.#log, from) : undefined;
  }

  /** What was appended here last, where it is all that stands behind an offset; undefined where it may not be. */
  appendedBehind(from: number): string | undefined {
    const last = this.#appended;
    return last?.from === from && last.state === stamp(this.#log) ? last.lines : undefined;
  }

  /** The last lines of the log at once; undefined where the log is a link. */
  endNow(): LogEnd | undefined {
    return this.#isPlain() ? readEnd(this.#log) : undefined;
  }

  /** Appends a message. It is on disk when this resolves; many at once share one flush. */
  async append(given: Message, ahead?: Ahead): Promise<Message> {
    // Lines stand in the order of the calls, also when an image of an earlier one takes longer to write.
    const turn = Promise.all([this.#accept(given), this.#accepting]);
    // Without its value: each would hold the one before, and the thread every message that was ever appended.
    this.#accepting = turn.then(
      () => {},
      () => {},
    );
    const [accepted] = await turn;
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...accepted, ahead, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Changes values of `thread.json`; everything else in it stays to the byte. A function sees what it says by then. */
  change(changes: EnvelopeChanges): Promise<ThreadEnvelope> {
    return this.#write(() => changeEnvelope(this.dir, changes));
  }

  /**
   * Empties the log. The old one stays beside it as `messages.jsonl.cleared-<time>`, whose name is answered. What else is to
   * change in `thread.json` changes with it.
   */
  clear(changes: readonly JsonChange[] = []): Promise<string | undefined> {
    return this.#write(async () => {
      this.#writer.close();
      const aside = await setLogAside(this.dir, this.#deps.now());
      this.#counts.forget();
      this.#pager.forget();
      if (aside === undefined && changes.length === 0) return aside;
      const change = (envelope: ThreadEnvelope) => [
        ...derivedChanges(envelope, derivedAtStart(envelope)),
        ...changes,
      ];
      await changeEnvelope(this.dir, change).catch(async (error) => {
        // Whoever is told that there is no room is told that nothing was changed.
        if (aside !== undefined) await bringLogBack(this.dir, aside);
        throw error;
      });
      return aside;
    });
  }

  /**
   * Makes the log that was cleared last the thread's again, as long as nothing was said since. Answers the name it had;
   * undefined where none was cleared, or it was cleared too long ago.
   */
  unclear(changes: readonly JsonChange[] = []): Promise<string | undefined> {
    return this.#write(async () => {
      const aside = await lastAside(this.dir);
      if (aside === undefined) return undefined;
      if (isSaid(this.#log)) throw notEmpty(this.id);
      await assertInside(this.dir, join(this.dir, aside));
      this.#writer.close();
      await bringLogBack(this.dir, aside);
      this.#counts.forget();
      this.#pager.forget();
      if (changes.length > 0) await changeEnvelope(this.dir, changes);
      this.#timer ??= setTimeout(() => this.#flushDerived(), DERIVED_MS).unref();
      return aside;
    });
  }

  async saveAsset(bytes: Uint8Array, mimeType: string): Promise<string> {
    await this.#prepareToWrite();
    return saveAsset(this.dir, bytes, mimeType);
  }

  readAsset(assetRef: string): Promise<Buffer> {
    return readAsset(this.dir, assetRef);
  }

  /**
   * Brings `stats` and `updatedAt` in line with the log. Answers whether they were not. What plainly fits is not counted
   * line by line unless asked for.
   */
  async refreshDerived({ thorough = false }: { thorough?: boolean } = {}): Promise<boolean> {
    await this.#assertWritable();
    return this.#counted(thorough, async () => {
      const envelope = await this.envelope();
      if (this.#counts.derived && sameDerived(derivedOf(envelope), this.#counts.derived)) return false;
      await this.#writeDerived();
      return true;
    });
  }

  /** Writes what is still to be written and lets go of the files. It opens again when it is used again. */
  async close(): Promise<void> {
    await this.#accepting;
    await this.#draining;
    this.#writer.close();
    this.#pager.forget();
    if (this.#timer) this.#flushDerived();
    await this.#flushing;
  }

  #isPlain(): boolean {
    return isPlainlyInside(this.dir, this.#log) || !existsSync(this.#log);
  }

  async #accept(given: Message): Promise<Accepted> {
    const images = Array.isArray(given?.content) && given.content.some((block) => block?.type === "image");
    if (images) await this.#prepareToWrite();
    return acceptMessage(this.dir, given);
  }

  /** Runs work under the thread's lock. Where nothing may be written, no lock file appears either. */
  async #write<T>(work: () => Promise<T>): Promise<T> {
    // Once it was written to, its lock is there.
    if (!this.#hidden) await this.#prepareToWrite();
    return this.#deps.locks.run(this.dir, async () => {
      await this.#assertWritable();
      return work();
    });
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#write(() => this.#appendWaiting()).catch((error) => {
        for (const { reject } of this.#waiting.splice(0)) reject(error);
      });
    }
    this.#draining = undefined;
  }

  async #appendWaiting(): Promise<void> {
    const batch = this.#waiting.splice(0, batchLength(this.#waiting));
    this.#deps.onUse?.(this);
    try {
      await this.#counts.prepare(() => this.envelope());
      const lines = batch.map(({ line }) => line).join("");
      const { from, mark } = await this.#writer.append(lines, (written) => {
        this.#keepInMind(lines, written.from, written.mark.offset);
        for (const { ahead, message } of batch) ahead?.(message);
      });
      const messages = batch.map(({ message }) => message);
      this.#counts.add(messages, from, mark);
    } catch (error) {
      for (const { reject } of batch) reject(error);
      return;
    }
    this.#timer ??= setTimeout(() => this.#flushDerived(), DERIVED_MS).unref();
    for (const { message, resolve } of batch) resolve(message);
  }

  /** Whoever appends looks at the log next: the few lines that most appends are need not be read again. */
  #keepInMind(lines: string, from: number, end: number): void {
    this.#appended = undefined;
    if (lines.length > KEPT_LINES || end - from !== Buffer.byteLength(lines)) return;
    const state = stamp(this.#log);
    if (state.split(":")[1] === `${end}`)
      this.#appended = { from, state, lines, entries: entriesOf(lines, from) };
  }

  /** What is written must not show up in git first. A disk that refuses says so to the write itself. */
  async #prepareToWrite(): Promise<void> {
    await this.#assertWritable();
    if (this.#hidden) return;
    this.#hidden = await hideFromGit(this.dir).then(
      () => true,
      () => false,
    );
  }

  /** Looked at again only when `thread.json` or the log is another file than before. */
  #assertWritable(): Promise<void> {
    return reading(this.dir, async () => {
      const seen = `${stamp(join(this.dir, ENVELOPE))} ${stamp(this.#log, "inode")}`;
      if (seen === this.#seen) return;
      await assertInside(this.dir, this.#log);
      await assertInside(this.dir, join(this.dir, ENVELOPE));
      const { readOnly } = await readEnvelope(this.dir);
      if (readOnly !== undefined) throw readOnlyThread(this.id, readOnly);
      this.#seen = seen;
    });
  }

  /** The counts are a cache: where they can't be written, whoever opens the thread next counts anew. */
  #flushDerived(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const flushed = this.#counted(false, () => this.#writeDerived()).catch(() => {});
    this.#flushing = Promise.all([this.#flushing, flushed]).then(() => {});
  }

  /** A long log is counted before the lock is taken: writers wait for what was added meanwhile, no longer. */
  async #counted<T>(thorough: boolean, work: () => Promise<T>): Promise<T> {
    if (thorough) await this.#counts.countAnew(await this.envelope());
    else await this.#counts.catchUp(() => this.envelope());
    return this.#write(async () => {
      await this.#counts.catchUp(() => this.envelope());
      return work();
    });
  }

  async #writeDerived(): Promise<void> {
    const { derived } = this.#counts;
    if (derived) await changeEnvelope(this.dir, (envelope) => derivedChanges(envelope, derived));
  }
}

function entriesOf(lines: string, from: number): FollowedEntry[] {
  let end = from;
  return lines
    .split("\n")
    .slice(0, -1)
    .map((line) => {
      const offset = end;
      end += Buffer.byteLength(line) + 1;
      return { message: JSON.parse(line) as Message, offset, end };
    });
}

/** As many of those that wait as fit into one write, one at least. */
function batchLength(waiting: readonly Waiting[]): number {
  let characters = 0;
  const tooMany = waiting.findIndex(({ line }, index) => {
    characters += line.length;
    return index > 0 && characters > BATCH_CHARACTERS;
  });
  return tooMany === -1 ? waiting.length : tooMany;
}

function isSaid(log: string): boolean {
  return (statSync(log, { throwIfNoEntry: false })?.size ?? 0) > 0;
}

function notEmpty(thread_id: string) {
  return atsfError(
    { kind: "atsf.not_empty", thread_id },
    "Something was said in this thread since it was cleared. The messages from before stay in the file beside its log.",
  );
}

/** Tells one state of a file from another. */
function stamp(path: string, by: "inode" | "change" = "change"): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return "none";
  return by === "inode" ? `${found.ino}` : `${found.ino}:${found.size}:${found.mtimeMs}`;
}
