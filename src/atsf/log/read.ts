import type { Message } from "../schemas.js";
import { linesForward } from "./lines.js";
import { openLog } from "./pager.js";
import { type LogEntry, parseLine } from "./parse.js";

/** Every line of a log from its beginning, broken ones included, without holding more than one at a time. */
export async function* streamLog(path: string): AsyncGenerator<LogEntry & { readonly line: number }> {
  const file = await openLog(path);
  if (!file) return;
  try {
    let line = 0;
    const { size } = await file.stat();
    for await (const raw of linesForward(file, 0, size)) {
      line++;
      const entry = parseLine(raw);
      if (entry) yield { ...entry, line };
    }
  } finally {
    await file.close();
  }
}

export interface WholeLog {
  /** Oldest first. Of messages with one id the last one counts, in its place. */
  readonly messages: Message[];
  readonly problems: { readonly line: number; readonly problem: string }[];
}

export async function readLog(path: string): Promise<WholeLog> {
  const byId = new Map<string, Message>();
  const problems: WholeLog["problems"] = [];
  for await (const entry of streamLog(path)) {
    if ("problem" in entry) {
      problems.push({ line: entry.line, problem: entry.problem });
      continue;
    }
    byId.delete(entry.message.id);
    byId.set(entry.message.id, entry.message);
  }
  return { messages: [...byId.values()], problems };
}
