import type { FileHandle } from "node:fs/promises";
import { stat } from "node:fs/promises";
import { dirname } from "node:path";
import { isMissing, reading } from "../disk.js";
import { openRegular } from "../regular-file.js";
import type { Message } from "../schemas.js";
import { linesForward } from "./lines.js";
import { type LogEntry, parseLine } from "./parse.js";

/** Every line of a log from its beginning, broken ones included, without holding more than one at a time. */
export async function* streamLog(
  path: string,
  longest?: number,
): AsyncGenerator<LogEntry & { readonly line: number }> {
  const file = await openLog(path);
  if (!file) return;
  try {
    let line = 0;
    const { size } = await file.stat();
    for await (const raw of linesForward(file, 0, size, longest)) {
      line++;
      const entry = parseLine(raw);
      if (entry) yield { ...entry, line };
    }
  } finally {
    await file.close();
  }
}

/** An entry with the offset behind it, from which reading goes on. */
export type FollowedEntry = LogEntry & { readonly end: number };

/** What stands behind an offset. A torn last line is neither told nor passed: it may still be finished. */
export async function* followLog(path: string, from: number): AsyncGenerator<FollowedEntry> {
  const file = await openLog(path);
  if (!file) return;
  try {
    yield* followFile(file, from);
  } finally {
    await file.close();
  }
}

export async function* followFile(file: FileHandle, from: number): AsyncGenerator<FollowedEntry> {
  const { size } = await file.stat();
  for await (const raw of linesForward(file, Math.max(0, from), size)) {
    const entry = parseLine(raw);
    if (!entry || (!raw.ended && "problem" in entry)) continue;
    yield { ...entry, end: raw.end };
  }
}

/** The message whose line begins at an offset. */
export async function readMessageAt(path: string, offset: number): Promise<Message | undefined> {
  if (!Number.isSafeInteger(offset) || offset < 0) return undefined;
  const file = await openLog(path);
  if (!file) return undefined;
  try {
    const { size } = await file.stat();
    if (!(await isLineStart(file, offset))) return undefined;
    for await (const raw of linesForward(file, offset, size)) {
      const entry = parseLine(raw);
      return entry && "message" in entry ? entry.message : undefined;
    }
    return undefined;
  } finally {
    await file.close();
  }
}

async function isLineStart(file: FileHandle, offset: number): Promise<boolean> {
  if (offset === 0) return true;
  const byte = Buffer.alloc(1);
  const { bytesRead } = await file.read(byte, 0, 1, offset - 1);
  return bytesRead === 1 && byte[0] === 0x0a;
}

export interface WholeLog {
  /** Oldest first. Of messages with one id the last one counts, in its place. */
  readonly messages: Message[];
  readonly problems: { readonly line: number; readonly problem: string }[];
}

export async function readLog(path: string, longest?: number): Promise<WholeLog> {
  const byId = new Map<string, Message>();
  const problems: WholeLog["problems"] = [];
  for await (const entry of streamLog(path, longest)) {
    if ("problem" in entry) {
      problems.push({ line: entry.line, problem: entry.problem });
      continue;
    }
    byId.delete(entry.message.id);
    byId.set(entry.message.id, entry.message);
  }
  return { messages: [...byId.values()], problems };
}

/** Tells one state of a log from another. */
export interface LogState {
  readonly inode: number;
  readonly size: number;
  readonly mtimeMs: number;
}

/** Undefined when there is no log yet. */
export function logState(path: string): Promise<LogState | undefined> {
  return reading(path, async () => {
    try {
      const { ino, size, mtimeMs } = await stat(path);
      return { inode: ino, size, mtimeMs };
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  });
}

/** Undefined when there is no log yet. */
export function openLog(path: string): Promise<FileHandle | undefined> {
  return openRegular(path, dirname(path));
}
