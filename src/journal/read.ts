import { journal, type Unit } from "../store/index.js";
import { EMPTY_HEAD, type JournalEvent, type JournalHead, type WrittenEvent } from "./event.js";

export function* readHead(key: journal.JournalKey): Unit<JournalHead> {
  const row = yield* journal.journalHead(key);
  return row ? { seq: row.seq, hash: row.hash } : EMPTY_HEAD;
}

const PAGE = 500;

/** Events from one number up to another, both included, however many. */
export function* readEvents(key: journal.JournalKey, from: number, to: number): Unit<WrittenEvent[]> {
  const events: WrittenEvent[] = [];
  for (let next = from; next <= to; ) {
    const rows = yield* journal.listEvents(key, { from: next, to, limit: PAGE });
    for (const { seq, body, hash } of rows) events.push({ seq, body, hash });
    if (rows.length < PAGE) break;
    next = (rows.at(-1)?.seq ?? to) + 1;
  }
  return events;
}

export function parseEvent({ body }: Pick<WrittenEvent, "body">): JournalEvent {
  return JSON.parse(body) as JournalEvent;
}
