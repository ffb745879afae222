import { journal, type Unit } from "../store/index.js";
import type { WrittenEvent } from "./event.js";

/** Writes events behind those that are there. A number that is taken fails the unit. */
export function* appendEvents(key: journal.JournalKey, events: readonly WrittenEvent[]): Unit<void> {
  const { workspace_id, thread_id } = key;
  yield* journal.appendEvents(
    events.map(({ seq, body, hash }) => ({ workspace_id, thread_id, seq, body, hash })),
  );
}
