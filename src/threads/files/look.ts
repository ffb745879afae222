import { createHash } from "node:crypto";
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Message, Thread, ThreadEnvelope } from "../../atsf/index.js";
import type { ThreadRow } from "../../store/index.js";
import { snippetOf } from "../text.js";

/** What the index last knew of a thread's log. */
export type KnownLog = Pick<ThreadRow, "log_stamp" | "log_size" | "log_tail" | "message_count">;

/** A log as it stands now, compared with what was known of it. */
export interface LogLook {
  readonly log_stamp: string | null;
  /** How far it was read: the end of its last whole line. */
  readonly log_size: number;
  readonly log_tail: string | null;
  readonly message_count: number;
  /** Of the last message that says something; undefined when none of those looked at does. */
  readonly snippet: string | undefined;
  readonly lastAt: string | undefined;
  /** Messages that came since, oldest first. Empty for a log that is seen for the first time or was replaced. */
  readonly fresh: readonly Message[];
  /** What was known of it no longer holds. */
  readonly replaced: boolean;
  /** There is more to read: look again from here. */
  readonly more: boolean;
}

const TAIL_BYTES = 256;
const BATCH_MESSAGES = 200;
const BATCH_BYTES = 4 * 1024 * 1024;
const SNIPPET_LOOKS = 10;

/** Tells one state of `thread.json` from another. */
export function envelopeStamp(dir: string): string | undefined {
  const found = statSync(join(dir, "thread.json"), { throwIfNoEntry: false });
  return found && `${found.ino}:${found.size}:${found.mtimeMs}`;
}

export function logStamp(dir: string): string | null {
  const found = statSync(join(dir, "messages.jsonl"), { throwIfNoEntry: false });
  return found ? `${found.ino}:${found.size}:${found.mtimeMs}` : null;
}

/** Tells whether anything in a thread's files is another than before. */
export function stampsOf(dir: string): string {
  return `${envelopeStamp(dir)} ${logStamp(dir)}`;
}

/** What is new in a log. Undefined: nothing changed. Reads what was appended, and all of it only when it was replaced. */
export async function lookAtLog(
  thread: Thread,
  known: KnownLog | undefined,
  envelope: () => Promise<ThreadEnvelope>,
): Promise<LogLook | undefined> {
  const stamp = logStamp(thread.dir);
  if (known && known.log_stamp === stamp && known.log_size !== null) return undefined;
  if (!known || known.log_size === null) return wholeLog(thread, stamp, await envelope(), false);
  if (continues(thread.dir, known, stamp)) return appended(thread, known, stamp);
  return wholeLog(thread, stamp, await envelope(), true);
}

/** Whether the log is the one that was known, with nothing but more behind it. */
function continues(dir: string, known: KnownLog, stamp: string | null): boolean {
  const size = known.log_size ?? 0;
  if (stamp === null) return known.log_stamp === null;
  if (known.log_stamp === null || size === 0) return size === 0;
  const [inode, now] = stamp.split(":");
  if (inode !== known.log_stamp.split(":")[0] || Number(now) <= size) return false;
  return tailOf(dir, size) === known.log_tail;
}

async function appended(thread: Thread, known: KnownLog, stamp: string | null): Promise<LogLook> {
  const fresh: Message[] = [];
  let end = known.log_size ?? 0;
  let more = false;
  for await (const entry of thread.newMessagesNow(end) ?? thread.newMessages(end)) {
    more = fresh.length >= BATCH_MESSAGES || entry.end - (known.log_size ?? 0) > BATCH_BYTES;
    if (more && fresh.length > 0) break;
    more = false;
    end = entry.end;
    if ("message" in entry) fresh.push(entry.message);
  }
  return {
    // A stamp that fits no file: the rest is read next time, also after a crash.
    log_stamp: more ? `${stamp?.split(":")[0]}:more` : stamp,
    log_size: end,
    log_tail: tailOf(thread.dir, end),
    message_count: known.message_count + fresh.length,
    snippet: lastSnippet(fresh),
    lastAt: fresh.at(-1)?.timestamp,
    fresh,
    replaced: false,
    more,
  };
}

/** A log seen for the first time, from its end: a long one is not read for a list. */
async function wholeLog(
  thread: Thread,
  stamp: string | null,
  envelope: ThreadEnvelope,
  replaced: boolean,
): Promise<LogLook> {
  const { newest, log_size, messages } = endNow(thread) ?? (await endInPages(thread));
  const lastAt = newest.at(-1)?.timestamp;
  return {
    log_stamp: stamp,
    log_size,
    log_tail: tailOf(thread.dir, log_size),
    message_count: messages ?? knowsLast(thread.dir, envelope, lastAt) ?? (await count(thread)),
    snippet: lastSnippet(newest),
    lastAt,
    fresh: [],
    replaced,
    more: false,
  };
}

interface End {
  /** Oldest first. */
  readonly newest: readonly Message[];
  readonly log_size: number;
  /** How many there are, where all of them were seen. */
  readonly messages: number | undefined;
}

/** Undefined when the last line alone is longer than what is read at once. */
function endNow(thread: Thread): End | undefined {
  const found = thread.endNow();
  if (!found) return undefined;
  const newest = found.entries.flatMap((entry) => ("message" in entry ? [entry.message] : []));
  if (!found.whole && newest.length === 0) return undefined;
  return {
    newest,
    log_size: found.entries.at(-1)?.end ?? 0,
    messages: found.whole ? newest.length : undefined,
  };
}

async function endInPages(thread: Thread): Promise<End> {
  const { entries } = await thread.page(SNIPPET_LOOKS);
  const [last] = entries;
  let log_size = 0;
  for await (const { end } of last ? thread.newMessages(last.offset) : []) log_size = end;
  return {
    newest: entries.map(({ message }) => message).reverse(),
    log_size,
    messages: last === undefined ? 0 : undefined,
  };
}

/** How many messages `thread.json` counts, when it was written after the log and knows of its last message. */
function knowsLast(
  dir: string,
  { stats, updatedAt }: ThreadEnvelope,
  lastAt: string | undefined,
): number | undefined {
  const timeOf = (stamp: string | null | undefined) => Number(stamp?.split(":")[2]);
  const isNewer = timeOf(envelopeStamp(dir)) >= timeOf(logStamp(dir));
  return isNewer && lastAt === updatedAt && stats.messageCount > 0 ? stats.messageCount : undefined;
}

async function count(thread: Thread): Promise<number> {
  let messages = 0;
  for await (const entry of thread.stream()) if ("message" in entry) messages++;
  return messages;
}

function lastSnippet(messages: readonly Message[]): string | undefined {
  for (const message of messages.toReversed()) {
    const snippet = snippetOf(message);
    if (snippet !== undefined) return snippet;
  }
  return undefined;
}

/** A few bytes before a place in the log: whoever rewrites a log rarely leaves them where they were. */
export function tailOf(dir: string, size: number): string | null {
  if (size === 0) return null;
  const file = openSync(join(dir, "messages.jsonl"), "r");
  try {
    const start = Math.max(0, size - TAIL_BYTES);
    const buffer = Buffer.alloc(size - start);
    const bytesRead = readSync(file, buffer, 0, buffer.length, start);
    return createHash("sha256").update(buffer.subarray(0, bytesRead)).digest("hex").slice(0, 32);
  } finally {
    closeSync(file);
  }
}
