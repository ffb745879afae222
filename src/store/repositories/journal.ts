import type { JournalEventRow } from "../schema.js";
import { insertRows, prepared, query, type Unit } from "../unit.js";

/** Whose journal: a thread's, or with an empty `thread_id` the workspace's own. */
export interface JournalKey {
  readonly workspace_id: string;
  readonly thread_id: string;
}

/** A number that is taken fails the unit: two writers never both believe they wrote the next event. */
export const appendEvents: (rows: readonly JournalEventRow[]) => Unit<void> = insertRows("journal_event", [
  "workspace_id",
  "thread_id",
  "seq",
  "body",
  "hash",
]);

const selectHead = prepared<JournalKey, JournalEventRow>(({ db }, arg) =>
  db
    .selectFrom("journal_event")
    .selectAll()
    .where("workspace_id", "=", arg("workspace_id"))
    .where("thread_id", "=", arg("thread_id"))
    .orderBy("seq", "desc")
    .limit(1),
);

export function* journalHead(key: JournalKey): Unit<JournalEventRow | undefined> {
  return (yield* selectHead(key))[0];
}

const selectRange = prepared<JournalKey & { from: number; to: number; limit: number }, JournalEventRow>(
  ({ db }, arg) =>
    db
      .selectFrom("journal_event")
      .selectAll()
      .where("workspace_id", "=", arg("workspace_id"))
      .where("thread_id", "=", arg("thread_id"))
      .where("seq", ">=", arg("from"))
      .where("seq", "<=", arg("to"))
      .orderBy("seq")
      .limit(arg("limit")),
);

/** Events from one number up to another, both included. */
export function* listEvents(
  key: JournalKey,
  { from, to, limit }: { from: number; to: number; limit: number },
): Unit<JournalEventRow[]> {
  const { workspace_id, thread_id } = key;
  return yield* selectRange({ workspace_id, thread_id, from, to, limit });
}

/** Forgets everything about a thread that is gone for good. */
export function* removeJournal({ workspace_id, thread_id }: JournalKey): Unit<void> {
  for (const table of ["journal_event", "run", "history", "blob_use"] as const) {
    yield* query(({ db }) =>
      db.deleteFrom(table).where("workspace_id", "=", workspace_id).where("thread_id", "=", thread_id),
    );
  }
  // What was asked stands there in words, whichever of the two threads is gone.
  yield* query(({ db }) =>
    db
      .deleteFrom("delegation")
      .where("workspace_id", "=", workspace_id)
      .where((eb) => eb.or([eb("thread_id", "=", thread_id), eb("caller_thread_id", "=", thread_id)])),
  );
}

/** Threads with journals of which the index knows nothing, and whose last run is older than a time; those without runs too. */
export function* orphanedJournals(before: number, limit: number): Unit<JournalKey[]> {
  return yield* query(({ db }) =>
    db
      .selectFrom("journal_event as j")
      .leftJoin("run as r", (join) =>
        join.onRef("r.workspace_id", "=", "j.workspace_id").onRef("r.thread_id", "=", "j.thread_id"),
      )
      .select(["j.workspace_id", "j.thread_id"])
      // Each journal has a first event; the workspace's own belongs to no thread.
      .where("j.seq", "=", 1)
      .where("j.thread_id", "!=", "")
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom("thread as t")
              .select("t.id")
              .whereRef("t.workspace_id", "=", "j.workspace_id")
              .whereRef("t.id", "=", "j.thread_id"),
          ),
        ),
      )
      .groupBy(["j.workspace_id", "j.thread_id"])
      .having(({ fn, or, eb }) =>
        or([eb(fn.max("r.updated_at"), "<", before), eb(fn.max("r.updated_at"), "is", null)]),
      )
      .limit(limit),
  );
}
