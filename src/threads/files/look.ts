import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { open } from "node:fs/promises";
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
  if (await continues(thread.dir, known, stamp)) return appended(thread, known, stamp);
  return wholeLog(thread, stamp, await envelope(), true);
}

/** Whether the log is the one that was known, with nothing but more behind it. */
async function continues(dir: string, known: KnownLog, stamp: string | null): Promise<boolean> {
  const size = known.log_size ?? 0;
  if (stamp === null) return known.log_stamp === null;
  if (known.log_stamp === null || size === 0) return size === 0;
  const [inode, now] = stamp.split(":");
  if (inode !== known.log_stamp.split(":")[0] || Number(now) <= size) return false;
  return (await tailOf(dir, size)) === known.log_tail;
}

async function appended(thread: Thread, known: KnownLog, stamp: string | null): Promise<LogLook> {
  const fresh: Message[] = [];
  let end = known.log_size ?? 0;
  let more = false;
  for await (const entry of thread.newMessages(end)) {
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
    log_tail: await tailOf(thread.dir, end),
    message_count: known.message_count + fresh.length,
    snippet: lastSnippet(fresh),
    lastAt: fresh.at(-1)?.timestamp,
    fresh,
    replaced: false,
    more,
  };
}

/** Trusts the counts in `thread.json` when it knows of the last message: a long log is not read for a list. */
async function wholeLog(
  thread: Thread,
  stamp: string | null,
  envelope: ThreadEnvelope,
  replaced: boolean,
): Promise<LogLook> {
  const newest = (await thread.page(SNIPPET_LOOKS)).entries.map(({ offset, message }) => ({
    offset,
    message,
  }));
  const last = newest[0];
  let log_size = 0;
  for await (const { end } of last ? thread.newMessages(last.offset) : []) log_size = end;
  const lastAt = last?.message.timestamp;
  const { messageCount } = envelope.stats;
  const trusted = lastAt === envelope.updatedAt && messageCount > 0;
  return {
    log_stamp: stamp,
    log_size,
    log_tail: await tailOf(thread.dir, log_size),
    message_count: last === undefined ? 0 : trusted ? messageCount : await count(thread),
    snippet: lastSnippet(newest.map(({ message }) => message).reverse()),
    lastAt,
    fresh: [],
    replaced,
    more: false,
  };
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
export async function tailOf(dir: string, size: number): Promise<string | null> {
  if (size === 0) return null;
  const file = await open(join(dir, "messages.jsonl"), "r");
  try {
    const start = Math.max(0, size - TAIL_BYTES);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start);
    return createHash("sha256").update(buffer.subarray(0, bytesRead)).digest("hex").slice(0, 32);
  } finally {
    await file.close();
  }
}
