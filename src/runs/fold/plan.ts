import { type Happening, type JournalHead, nextEvent, type WrittenEvent } from "../../journal/index.js";
import type { RunRow } from "../../store/index.js";
import { runsError } from "../errors.js";
import type { RunEvent } from "./events.js";
import { project } from "./project.js";
import { reduce, stateHash } from "./reduce.js";
import type { RunsState } from "./state.js";

/** What a thread's journal has come to. */
export interface JournalPosition {
  readonly head: JournalHead;
  readonly state: RunsState;
  /** Runs that have not ended, by id. */
  readonly rows: ReadonlyMap<string, RunRow>;
}

/** Events that are about to be written, and what follows from them. */
export interface Plan extends JournalPosition {
  readonly events: readonly WrittenEvent[];
  readonly happened: readonly RunEvent[];
  /** Rows that these events make or change. */
  readonly made: readonly RunRow[];
  readonly changed: readonly RunRow[];
  /** Numbers of the blobs that are written with it, by hash; they count once it is committed. */
  readonly blobIds: Map<string, number>;
}

/** Folds events into a position. Effects that they lead to are journaled right behind them. Nothing is written here. */
export function planEvents(
  at: JournalPosition,
  key: { readonly thread_id: string; readonly workspace_id: string },
  given: readonly RunEvent[],
): Plan {
  const events: WrittenEvent[] = [];
  const happened: RunEvent[] = [];
  let { head, state } = at;
  let rows = at.rows;
  const take = (event: RunEvent) => {
    const place = { thread_id: key.thread_id, seq: head.seq + 1 };
    const reduced = reduce(state, event, place);
    if ("rejected" in reduced) throw rejected(reduced.rejected);
    rows = project(rows, event, { before: state, after: reduced.state, seq: place.seq, key });
    state = reduced.state;
    const written = nextEvent(head, event as Happening, stateHash(state));
    events.push(written);
    happened.push(event);
    head = written;
    const { at: time, run_id = "" } = event;
    for (const { intent_id, kind, params_hash } of reduced.effects)
      take({ type: "effect.requested", at: time, run_id, intent_id, kind, params_hash });
  };
  for (const event of given) take(event);
  const all = [...rows.values()];
  return {
    head: { seq: head.seq, hash: head.hash },
    state,
    events,
    happened,
    rows: new Map(all.filter(({ last_seq }) => last_seq === null).map((row) => [row.id, row])),
    blobIds: new Map(),
    made: all.filter(({ id }) => !at.rows.has(id)),
    changed: all.filter((row) => at.rows.has(row.id) && at.rows.get(row.id) !== row),
  };
}

function rejected(reason: string) {
  return runsError({ kind: "run.rejected", reason }, `This can't happen now: ${reason}.`);
}
