import { sha256 } from "../base/index.js";
import type { Happening, JournalEvent, JournalHead, WrittenEvent } from "./event.js";

/** The event that comes next after a head, as it will be kept. */
export function nextEvent(head: JournalHead, happening: Happening, state: string): WrittenEvent {
  const { type, at, run_id, ...facts } = happening;
  const seq = head.seq + 1;
  const body = JSON.stringify({ seq, type, at, run_id, prev: head.hash, state, ...facts });
  return { seq, body, hash: sha256(body) };
}

export interface ChainProblem {
  readonly seq: number;
  readonly message: string;
}

/** The first event of a stretch that is not what was written, or undefined. `before` is the head it follows. */
export function firstBreak(
  events: readonly WrittenEvent[],
  before: JournalHead | undefined,
): ChainProblem | undefined {
  let head = before;
  for (const event of events) {
    const problem = problemOf(event, head);
    if (problem) return { seq: event.seq, message: problem };
    head = event;
  }
  return undefined;
}

function problemOf({ seq, body, hash }: WrittenEvent, head: JournalHead | undefined): string | undefined {
  if (sha256(body) !== hash) return "its text does not have the hash it was kept with";
  const event = parse(body);
  if (!event || event.seq !== seq) return "its text does not say its own number";
  if (!head) return undefined;
  if (seq !== head.seq + 1) return `event ${head.seq + 1} is missing before it`;
  return event.prev === head.hash ? undefined : "it does not follow the event before it";
}

function parse(body: string): JournalEvent | undefined {
  try {
    return JSON.parse(body) as JournalEvent;
  } catch {
    return undefined;
  }
}
