import { sql } from "kysely";
import type { RunRow } from "../schema.js";
import { first, prepared, query, type Unit } from "../unit.js";

/** Every column of a run: a row without one of them does not fit the type. */
const COLUMNS = Object.keys({
  id: 0,
  workspace_id: 0,
  thread_id: 0,
  number: 0,
  status: 0,
  steps: 0,
  agent_id: 0,
  model: 0,
  parent_run_id: 0,
  origin: 0,
  approvals: 0,
  decisions: 0,
  steering: 0,
  error: 0,
  usage: 0,
  content: 0,
  user_message_id: 0,
  agent_message_id: 0,
  idempotency_key: 0,
  first_seq: 0,
  last_seq: 0,
  created_at: 0,
  updated_at: 0,
  started_at: 0,
  ended_at: 0,
} satisfies Record<keyof RunRow, 0>) as (keyof RunRow)[];

/** What may change of a run once it is admitted. */
const CHANGING = [
  "status",
  "steps",
  "agent_id",
  "model",
  "error",
  "usage",
  "approvals",
  "decisions",
  "steering",
  "content",
  "last_seq",
  "updated_at",
  "started_at",
  "ended_at",
] as const satisfies readonly (keyof RunRow)[];

const insert = prepared<RunRow, unknown>(({ db }, arg) =>
  db.insertInto("run").values(Object.fromEntries(COLUMNS.map((column) => [column, arg(column)])) as never),
);

const update = prepared<RunRow, unknown>(({ db }, arg) =>
  db
    .updateTable("run")
    .set(Object.fromEntries(CHANGING.map((column) => [column, arg(column)])))
    .where("id", "=", arg("id")),
);

export function* insertRun(row: RunRow): Unit<void> {
  yield* insert(row);
}

export function* updateRun(row: RunRow): Unit<void> {
  yield* update(row);
}

const selectById = prepared<{ id: string }, RunRow>(({ db }, arg) =>
  db.selectFrom("run").selectAll().where("id", "=", arg("id")),
);

export function* findRun(id: string): Unit<RunRow | undefined> {
  return (yield* selectById({ id }))[0];
}

interface OfThread {
  readonly workspace_id: string;
  readonly thread_id: string;
}

const selectByKey = prepared<OfThread & { key: string }, RunRow>(({ db }, arg) =>
  db
    .selectFrom("run")
    .selectAll()
    .where("workspace_id", "=", arg("workspace_id"))
    .where("thread_id", "=", arg("thread_id"))
    .where("idempotency_key", "=", arg("key")),
);

export function* findRunByKey(of: OfThread, key: string): Unit<RunRow | undefined> {
  return (yield* selectByKey({ ...of, key }))[0];
}

const selectNumber = prepared<OfThread, { number: number }>(({ db }, arg) =>
  db
    .selectFrom("run")
    .select("number")
    .where("workspace_id", "=", arg("workspace_id"))
    .where("thread_id", "=", arg("thread_id"))
    .orderBy("number", "desc")
    .limit(1),
);

/** The number of a thread's latest run; 0 when there was none. */
export function* lastRunNumber(of: OfThread): Unit<number> {
  return (yield* selectNumber(of))[0]?.number ?? 0;
}

const selectOfThread = prepared<OfThread & { number: number }, RunRow>(({ db }, arg) =>
  db
    .selectFrom("run")
    .selectAll()
    .where("workspace_id", "=", arg("workspace_id"))
    .where("thread_id", "=", arg("thread_id"))
    .where("number", "=", arg("number")),
);

export function* findRunByNumber(of: OfThread, number: number): Unit<RunRow | undefined> {
  return (yield* selectOfThread({ ...of, number }))[0];
}

/** Two queries, each with an index of its own: most runs never wait, and touch only one of the two. */
const selectActive = prepared<OfThread, RunRow>(({ db }, arg) =>
  db
    .selectFrom("run")
    .selectAll()
    .where("workspace_id", "=", arg("workspace_id"))
    .where("thread_id", "=", arg("thread_id"))
    .where(sql<boolean>`status in ('running', 'waiting')`),
);

const selectQueued = prepared<OfThread, RunRow>(({ db }, arg) =>
  db
    .selectFrom("run")
    .selectAll()
    .where("workspace_id", "=", arg("workspace_id"))
    .where("thread_id", "=", arg("thread_id"))
    .where(sql<boolean>`status = 'queued'`)
    .orderBy("number"),
);

/** Runs of a thread that have not ended, in the order they were asked for. */
export function* unfinishedRuns(of: OfThread): Unit<RunRow[]> {
  return [...(yield* selectActive(of)), ...(yield* selectQueued(of))];
}

/** Those of some runs of a thread that have ended, in the order they were asked for. */
export function* endedAmong(ids: readonly string[]): Unit<RunRow[]> {
  if (ids.length === 0) return [];
  return yield* query(({ db }) =>
    db
      .selectFrom("run")
      .selectAll()
      .where("id", "in", [...ids])
      .where("last_seq", "is not", null)
      .orderBy("number"),
  );
}

/** Threads with runs that have not ended: what a gateway that stopped left behind. */
export function* threadsWithUnfinishedRuns(): Unit<OfThread[]> {
  const active = yield* query(({ db }) =>
    db
      .selectFrom("run")
      .select(["workspace_id", "thread_id"])
      .where(sql<boolean>`status in ('running', 'waiting')`),
  );
  const queued = yield* query(({ db }) =>
    db
      .selectFrom("run")
      .select(["workspace_id", "thread_id"])
      .where(sql<boolean>`status = 'queued'`)
      .groupBy(["workspace_id", "thread_id"]),
  );
  const all = [...active, ...queued].map((one) => [`${one.workspace_id}/${one.thread_id}`, one] as const);
  return [...new Map(all).values()];
}

/** When the one that has been under way for longest began; undefined when none is. */
export function* oldestUnderWay(): Unit<number | undefined> {
  const [row] = yield* query(({ db }) =>
    db
      .selectFrom("run")
      .select(({ fn }) => fn.min("started_at").as("began"))
      .where(sql<boolean>`status in ('running', 'waiting')`),
  );
  return row?.began === null || row?.began === undefined ? undefined : Number(row.began);
}

/** The run whose part of the journal holds an event, and that began before it. */
export function* earliestOverlap(of: OfThread, seq: number): Unit<number | undefined> {
  const row = yield* first(({ db }) =>
    db
      .selectFrom("run")
      .select("first_seq")
      .where("workspace_id", "=", of.workspace_id)
      .where("thread_id", "=", of.thread_id)
      .where("first_seq", "<", seq)
      .where((eb) => eb.or([eb("last_seq", ">", seq), eb("last_seq", "is", null)]))
      .orderBy("first_seq")
      .limit(1),
  );
  return row?.first_seq;
}

export interface RunListFilter {
  readonly workspace_id: string;
  readonly thread_id?: string | undefined;
  readonly status?: readonly string[] | undefined;
  readonly order: "updated_at" | "created_at";
  readonly after?: { readonly at: number; readonly id: string } | undefined;
  readonly limit: number;
}

/** Newest first, after the run that ended the page before. */
export function* listRuns(filter: RunListFilter): Unit<RunRow[]> {
  const { workspace_id, thread_id, status, order, after, limit } = filter;
  // The runs of one thread are few. With the plus SQLite sorts them; without it, it goes through all of the workspace's.
  const at = thread_id === undefined ? sql.ref<number>(order) : sql<number>`+${sql.ref(order)}`;
  return yield* query(({ db }) => {
    let rows = db
      .selectFrom("run")
      .selectAll()
      .where("workspace_id", "=", workspace_id)
      .orderBy(at, "desc")
      .orderBy("id", "desc")
      .limit(limit);
    if (thread_id !== undefined) rows = rows.where("thread_id", "=", thread_id);
    if (status !== undefined) rows = rows.where("status", "in", [...status]);
    if (!after) return rows;
    return rows.where(sql<boolean>`(${at}, id) < (${after.at}, ${after.id})`);
  });
}

/** A run and those it was delegated from, the nearest first. */
export function* withAncestors(id: string): Unit<RunRow[]> {
  const found: RunRow[] = [];
  const seen = new Set<string>();
  for (let next: string | null = id; next !== null && !seen.has(next); ) {
    seen.add(next);
    const row: RunRow | undefined = yield* findRun(next);
    if (!row) break;
    found.push(row);
    next = row.parent_run_id;
  }
  return found;
}

/** A result that came back is a run of its caller's thread: what that asks is nothing to the run whose result it is. */
const DELEGATED = sql<boolean>`run.origin like '%"kind":"delegated"%'`;

/** Runs that wait for somebody's answer, each with a run that it was delegated from, at whatever distance. */
export function* waitingBelow(ids: readonly string[]): Unit<(RunRow & { readonly ancestor: string })[]> {
  if (ids.length === 0) return [];
  const rows = yield* query(({ db }) =>
    db
      .withRecursive("up", (cte) =>
        cte
          .selectFrom("run")
          .select(["id", "parent_run_id as ancestor"])
          // In the words of the index of runs that are under way: those that wait are few.
          .where(sql<boolean>`status in ('running', 'waiting')`)
          .where("status", "=", "waiting")
          .where("parent_run_id", "is not", null)
          .where(DELEGATED)
          .union(
            cte
              .selectFrom("up")
              .innerJoin("run", "run.id", "up.ancestor")
              .select(["up.id as id", "run.parent_run_id as ancestor"])
              .where("run.parent_run_id", "is not", null)
              .where(DELEGATED),
          ),
      )
      .selectFrom("up")
      // SQLite keeps the order of a cross join; left to choose, it goes through every run there is.
      .crossJoin("run")
      .whereRef("run.id", "=", "up.id")
      .selectAll("run")
      .select("up.ancestor as ancestor")
      .where("up.ancestor", "in", [...ids])
      .orderBy("run.id"),
  );
  return rows as (RunRow & { ancestor: string })[];
}

/** A run and everything that was delegated from it, at whatever depth, the oldest first. */
export function* runTree(id: string, limit: number): Unit<RunRow[]> {
  return yield* query(({ db }) =>
    db
      .withRecursive("tree", (cte) =>
        cte
          .selectFrom("run")
          .select("id")
          .where("id", "=", id)
          .union(
            cte.selectFrom("tree").innerJoin("run", "run.parent_run_id", "tree.id").select("run.id as id"),
          ),
      )
      .selectFrom("tree")
      .crossJoin("run")
      .whereRef("run.id", "=", "tree.id")
      .selectAll("run")
      .orderBy("run.created_at")
      .orderBy("run.id")
      .limit(limit),
  );
}
