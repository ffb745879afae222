import type { JournalEvent } from "../../journal/index.js";
import type { RunRow } from "../../store/index.js";
import type { RunEvent } from "../fold/events.js";
import { type Reduced, type reduce, stateHash } from "../fold/reduce.js";
import { IDLE, type RunsState } from "../fold/state.js";
import { type Difference, difference, diffOf } from "./difference.js";

/** Folds the events again. State and effects must be those that were recorded, after every event. */
export function foldDifference(
  reducer: typeof reduce,
  row: RunRow,
  events: readonly JournalEvent[],
): Difference | undefined {
  let state: RunsState = IDLE;
  for (const event of events) {
    const { seq, type } = event;
    const reduced = attempt(reducer, state, event, row);
    if ("rejected" in reduced) {
      const message = `Event ${seq} (${type}) does not follow: ${reduced.rejected}.`;
      return difference("fold", `event ${seq}`, message);
    }
    state = reduced.state;
    const hash = stateHash(state);
    if (hash === event.state) continue;
    const message = `After event ${seq} (${type}) the state is another than was recorded.`;
    // Of the state that was, the record has nothing but the hash.
    return difference("fold", `event ${seq}`, message, diffOf({ hash: event.state }, { hash, state }));
  }
  return undefined;
}

/** An event that was changed may have any shape. */
function attempt(
  reducer: typeof reduce,
  state: RunsState,
  event: JournalEvent,
  { thread_id }: RunRow,
): Reduced {
  try {
    return reducer(state, event as unknown as RunEvent, { thread_id, seq: event.seq });
  } catch (error) {
    return { rejected: (error as Error).message };
  }
}
