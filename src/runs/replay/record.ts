import {
  firstBreak,
  type JournalEvent,
  type JournalHead,
  parseEvent,
  readEvents,
  readHead,
  type WrittenEvent,
} from "../../journal/index.js";
import type { RunRow, Unit } from "../../store/index.js";
import { restBefore } from "../session/sessions.js";
import { type Difference, difference } from "./difference.js";

export interface RunRecord {
  readonly before: JournalHead | undefined;
  readonly events: readonly WrittenEvent[];
  /** The number of the last event there must be. */
  readonly to: number;
}

/** From where the thread was last at rest before the run up to the run's end: all that its state can depend on. */
export function* readRecord(row: RunRow): Unit<RunRecord> {
  const from = (yield* restBefore(row, [row])) ?? row.first_seq;
  const to = row.last_seq ?? (yield* readHead(row)).seq;
  const [before] = from > 1 ? yield* readEvents(row, from - 1, from - 1) : [];
  return { before: from > 1 ? before : { seq: 0, hash: "" }, events: yield* readEvents(row, from, to), to };
}

/** Undefined for a text that is no event any more. */
export function tryParse(written: WrittenEvent): JournalEvent | undefined {
  try {
    const event = parseEvent(written);
    return typeof event === "object" && event !== null ? event : undefined;
  } catch {
    return undefined;
  }
}

/** The first event that is not what was written. */
export function brokenRecord({ before, events, to }: RunRecord): Difference | undefined {
  const broken = firstBreak(events, before);
  if (broken) {
    const message = `Event ${broken.seq} was changed: ${broken.message}.`;
    return difference("integrity", `event ${broken.seq}`, message);
  }
  if (events.at(-1)?.seq === to) return undefined;
  return difference("integrity", `event ${to}`, `The journal ends before event ${to}, the last of this run.`);
}
