import { statSync } from "node:fs";
import { rename } from "node:fs/promises";
import { join } from "node:path";
import { readAsset, saveAsset } from "./assets.js";
import { assertInside } from "./confined.js";
import { changeEnvelope, readEnvelope } from "./envelope.js";
import { atsfError } from "./errors.js";
import { isMissing, syncDirectory } from "./files.js";
import type { JsonChange } from "./json-text.js";
import { ENVELOPE, LOG } from "./layout.js";
import type { ThreadLocks } from "./lock.js";
import { type LogPage, LogPager } from "./log/pager.js";
import { readLog, streamLog, type WholeLog } from "./log/read.js";
import { LogWriter } from "./log/writer.js";
import { type Message, message as messageSchema, type ThreadEnvelope } from "./schemas.js";
import { countIn, type Derived, derivedOf, emptyStats, sameDerived } from "./stats.js";

export interface ThreadDeps {
  readonly locks: ThreadLocks;
  readonly now: () => number;
}

/** How long after an append the counts in `thread.json` follow; they are only a cache of the log. */
const DERIVED_MS = 500;

interface Waiting {
  readonly message: Message;
  readonly resolve: (message: Message) => void;
  readonly reject: (error: unknown) => void;
}

/** One thread in its directory: read it, append to it, change what is known of it. */
export class Thread {
  readonly id: string;
  readonly dir: string;
  readonly #deps: ThreadDeps;
  readonly #writer: LogWriter;
  readonly #pager: LogPager;
  #waiting: Waiting[] = [];
  #draining: Promise<void> | undefined;
  #derived: Derived | undefined;
  #timer: NodeJS.Timeout | undefined;
  #seen = "";

  constructor(id: string, dir: string, deps: ThreadDeps) {
    this.id = id;
    this.dir = dir;
    this.#deps = deps;
    this.#writer = new LogWriter(this.#log, deps.now);
    this.#pager = new LogPager(this.#log);
  }

  get #log(): string {
    return join(this.dir, LOG);
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
  async page(limit = 50, before?: number): Promise<LogPage> {
    await assertInside(this.dir, this.#log);
    return this.#pager.page(limit, before);
  }

  /** Line by line from the beginning, broken ones included. */
  stream(): ReturnType<typeof streamLog> {
    return streamLog(this.#log);
  }

  /** Appends a message. It is on disk when this resolves; many at once share one flush. */
  async append(given: Message): Promise<Message> {
    const message = await this.#accept(given);
    return new Promise((resolve, reject) => {
      this.#waiting.push({ message, resolve, reject });
      this.#draining ??= this.#drain();
    });
  }

  /** Changes values of `thread.json`; everything else in it stays to the byte. */
  change(changes: readonly JsonChange[]): Promise<ThreadEnvelope> {
    return this.#deps.locks.run(this.dir, async () => {
      await assertInside(this.dir, join(this.dir, ENVELOPE));
      return changeEnvelope(this.dir, changes);
    });
  }

  /** Empties the log. The old one stays beside it as `messages.jsonl.cleared-<time>`, whose name is answered. */
  clear(): Promise<string | undefined> {
    return this.#deps.locks.run(this.dir, async () => {
      await this.#assertWritable();
      this.#writer.close();
      const time = new Date(this.#deps.now()).toISOString().replaceAll(":", "-");
      const aside = `${LOG}.cleared-${time}`;
      try {
        await rename(this.#log, join(this.dir, aside));
      } catch (error) {
        if (isMissing(error)) return undefined;
        throw error;
      }
      await syncDirectory(this.dir);
      const { createdAt } = await this.envelope();
      this.#derived = { stats: emptyStats(), updatedAt: createdAt };
      await this.#writeDerived(this.#derived);
      return aside;
    });
  }

  saveAsset(bytes: Uint8Array, mimeType: string): Promise<string> {
    return saveAsset(this.dir, bytes, mimeType);
  }

  readAsset(assetRef: string): Promise<Buffer> {
    return readAsset(this.dir, assetRef);
  }

  /** Brings `stats` and `updatedAt` in line with the log. Answers whether they were not. */
  refreshDerived(): Promise<boolean> {
    return this.#deps.locks.run(this.dir, async () => {
      const envelope = await this.envelope();
      const derived = await this.#countLog(envelope);
      this.#derived = derived;
      if (sameDerived(derivedOf(envelope), derived)) return false;
      await this.#writeDerived(derived);
      return true;
    });
  }

  /** Writes what is still to be written and lets go of the files. */
  async close(): Promise<void> {
    await this.#draining;
    if (this.#timer) await this.#flushDerived();
    this.#writer.close();
  }

  async #accept(given: Message): Promise<Message> {
    const content = Array.isArray(given.content) ? await this.#moveImagesOut(given.content) : given.content;
    const parsed = messageSchema.safeParse({ ...given, content });
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const problem = `${issue?.path.join(".")}: ${issue?.message}`;
    throw atsfError(
      { kind: "atsf.invalid_message", problem },
      `This is no message of the format: ${problem}.`,
    );
  }

  /** Inline images become files, so that the log stays small and readable. */
  #moveImagesOut(content: Message["content"]): Promise<Message["content"]> {
    return Promise.all(
      content.map(async (block) => {
        const { data, ...rest } = block as { type: string; data?: unknown; mimeType?: unknown };
        if (block.type !== "image" || typeof data !== "string" || "assetRef" in rest) return block;
        const assetRef = await this.saveAsset(Buffer.from(data, "base64"), String(rest.mimeType));
        return { ...rest, assetRef } as Message["content"][number];
      }),
    );
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length > 0) {
      await this.#deps.locks
        .run(this.dir, () => this.#appendWaiting())
        .catch((error) => this.#failWaiting(error));
    }
    this.#draining = undefined;
  }

  async #appendWaiting(): Promise<void> {
    const batch = this.#waiting;
    await this.#assertWritable();
    await this.#writer.append(batch.map(({ message }) => `${JSON.stringify(message)}\n`).join(""));
    this.#waiting = this.#waiting.slice(batch.length);
    for (const { message, resolve } of batch) {
      this.#count(message);
      resolve(message);
    }
  }

  #failWaiting(error: unknown): void {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }

  /** Looked at again only when `thread.json` or the log is another file than before. */
  async #assertWritable(): Promise<void> {
    const seen = `${stamp(join(this.dir, ENVELOPE))} ${stamp(this.#log, "inode")}`;
    if (seen === this.#seen) return;
    await assertInside(this.dir, this.#log);
    await assertInside(this.dir, join(this.dir, ENVELOPE));
    const { readOnly, envelope } = await readEnvelope(this.dir);
    this.#derived ??= await this.#countLog(envelope);
    this.#seen = seen;
    if (readOnly === undefined) return;
    this.#seen = "";
    throw atsfError(
      { kind: "atsf.read_only", thread_id: this.id, reason: readOnly },
      `This thread is read-only: ${readOnly}.`,
    );
  }

  #count(message: Message): void {
    const { stats } = this.#derived as Derived;
    this.#derived = { stats: countIn(stats, message), updatedAt: message.timestamp };
    this.#timer ??= setTimeout(() => void this.#flushDerived().catch(() => {}), DERIVED_MS).unref();
  }

  async #flushDerived(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#deps.locks.run(this.dir, async () => {
      if (this.#derived) await this.#writeDerived(this.#derived);
    });
  }

  async #writeDerived(derived: Derived): Promise<void> {
    await changeEnvelope(this.dir, [
      { path: ["updatedAt"], value: derived.updatedAt },
      ...Object.entries(derived.stats).map(([key, value]) => ({ path: ["stats", key], value })),
    ]);
  }

  /** Trusts the envelope when it knows of the log's last message; counts the log when it does not. */
  async #countLog(envelope: ThreadEnvelope): Promise<Derived> {
    const [last] = (await this.#pager.page(1)).entries;
    if (last && last.message.timestamp === envelope.updatedAt && envelope.stats.messageCount > 0)
      return derivedOf(envelope);
    let derived: Derived = { stats: { ...envelope.stats, ...emptyStats() }, updatedAt: envelope.createdAt };
    for await (const entry of this.stream()) {
      if ("message" in entry) {
        derived = { stats: countIn(derived.stats, entry.message), updatedAt: entry.message.timestamp };
      }
    }
    return derived;
  }
}

/** Tells one state of a file from another. */
function stamp(path: string, by: "inode" | "change" = "change"): string {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found) return "none";
  return by === "inode" ? `${found.ino}` : `${found.ino}:${found.size}:${found.mtimeMs}`;
}
