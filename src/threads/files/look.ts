import { statSync } from "node:fs";
import { join } from "node:path";
import { type Message, readLogBytes, type Thread, type ThreadEnvelope } from "../../atsf/index.js";
import { sha256 } from "../../base/index.js";
import type { ThreadRow } from "../../store/index.js";
import { snippetOf, titleFrom } from "../text.js";

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
  /** Messages that came since, oldest first. Empty when they are too many, or the log is new or was replaced. */
  readonly fresh: readonly Message[];
  /** What was known of it no longer holds. */
  readonly replaced: boolean;
  /** What the first user message among the new ones would be called. */
  readonly firstTitle: string | undefined;
}

const TAIL_BYTES = 256;
const TOLD_MESSAGES = 200;
const TOLD_BYTES = 3 * 1024 * 1024;
const SNIPPET_LOOKS = 10;

/** Tells one state of `thread.json` from another. */
export function envelopeStamp(dir: string): string | undefined {
  return stampOf(join(dir, "thread.json"));
}

export function logStamp(dir: string): string | null {
  return stampOf(join(dir, "messages.jsonl")) ?? null;
}

/** One file that can't be looked at (a link in a circle, say) must not keep others from being looked at. */
function stampOf(path: string): string | undefined {
  try {
    const found = statSync(path, { throwIfNoEntry: false });
    return found && `${found.ino}:${found.size}:${found.mtimeMs}`;
  } catch {
    return undefined;
  }
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
  const ours = thread.appendedBehind(known.log_size);
  if (ours !== undefined || continues(thread.dir, known, stamp)) return appended(thread, known, stamp, ours);
  return wholeLog(thread, stamp, await envelope(), true);
}

/** Reads all of a log, whatever was known of it; what came since is told all the same. */
export async function lookAnew(
  thread: Thread,
  known: KnownLog | undefined,
  envelope: () => Promise<ThreadEnvelope>,
): Promise<LogLook> {
  const since = known && (await lookAtLog(thread, known, envelope));
  const log = await wholeLog(thread, logStamp(thread.dir), await envelope(), false);
  return { ...log, fresh: since?.fresh ?? [] };
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

/** Past this, it is the work of another program: clients read such a thread again instead of hearing every message. */
class Told {
  readonly messages: Message[] = [];
  #count = 0;
  #bytes = 0;

  add(message: Message, bytes: number): void {
    this.#count++;
    // On the wire a message is cut at about this size.
    this.#bytes += Math.min(bytes, TOLD_BYTES / 3);
    if (this.#count <= TOLD_MESSAGES && this.#bytes <= TOLD_BYTES) this.messages.push(message);
    else this.messages.length = 0;
  }
}

/** `ours`: all that came since, where it was appended here. */
async function appended(
  thread: Thread,
  known: KnownLog,
  stamp: string | null,
  ours: string | undefined,
): Promise<LogLook> {
  const told = new Told();
  let end = known.log_size ?? 0;
  let count = 0;
  let last: Message | undefined;
  let snippet: string | undefined;
  let firstTitle: string | undefined;
  for await (const entry of thread.newMessagesNow(end) ?? thread.newMessages(end)) {
    end = entry.end;
    if (!("message" in entry)) continue;
    last = entry.message;
    count++;
    told.add(last, entry.end - entry.offset);
    snippet = snippetOf(last) ?? snippet;
    firstTitle ??= titleFrom(last);
  }
  return {
    log_stamp: stamp,
    log_size: end,
    log_tail: tailOfLine(ours) ?? tailOf(thread.dir, end),
    message_count: known.message_count + count,
    snippet,
    firstTitle,
    lastAt: last?.timestamp,
    fresh: told.messages,
    replaced: false,
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
    firstTitle: undefined,
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
  return markOf(readLogBytes(dir, Math.max(0, size - TAIL_BYTES), size));
}

/** The same from the last line; undefined where it is shorter than what is looked at. */
function tailOfLine(line = ""): string | undefined {
  if (line.length <= TAIL_BYTES) return undefined;
  // One more than needed: the first of them may be half a character.
  return markOf(Buffer.from(line.slice(-TAIL_BYTES - 1)).subarray(-TAIL_BYTES));
}

function markOf(bytes: Uint8Array): string {
  return sha256(bytes).slice(0, 32);
}
