import type { PlacementRow, ThreadRow } from "../schema.js";
import { first, prepared, query, type Unit } from "../unit.js";
import { type PlacedThreadRow, placedThreads } from "./placed-threads.js";
import { saveTitle } from "./titles.js";

export type { PlacedThreadRow } from "./placed-threads.js";
export { listThreads, listTreeThreads, type ThreadListFilter } from "./thread-lists.js";

const selectById = (state: ThreadState, scoped: boolean) =>
  prepared<{ id: string; workspace_id: string }, PlacedThreadRow>((s, arg) =>
    placedThreads(s)
      .where("t.id", "=", arg("id"))
      .where("t.deleted_at", state === "living" ? "is" : "is not", null)
      .$if(scoped, (rows) => rows.where("t.workspace_id", "=", arg("workspace_id")))
      .where(({ exists, selectFrom }) =>
        exists(
          selectFrom("workspace as w")
            .select("w.id")
            .whereRef("w.id", "=", "t.workspace_id")
            .where("w.deleted_at", "is", null),
        ),
      )
      .limit(3),
  );

export type ThreadState = "living" | "deleted";

const byId = {
  living: { anywhere: selectById("living", false), inWorkspace: selectById("living", true) },
  deleted: { anywhere: selectById("deleted", false), inWorkspace: selectById("deleted", true) },
};

/** The threads with an id, in one workspace or in any: two workspaces may each have one. */
export function* findThreads(id: string, state: ThreadState, workspace_id?: string): Unit<PlacedThreadRow[]> {
  const select = byId[state][workspace_id === undefined ? "anywhere" : "inWorkspace"];
  return yield* select({ id, workspace_id: workspace_id ?? "" });
}

const selectPlaced = prepared<{ id: string; workspace_id: string }, PlacedThreadRow>((s, arg) =>
  placedThreads(s).where("t.workspace_id", "=", arg("workspace_id")).where("t.id", "=", arg("id")),
);

/** What lists show of a thread, in the bin or not. */
export function* findPlacedThread(workspace_id: string, id: string): Unit<PlacedThreadRow | undefined> {
  return (yield* selectPlaced({ workspace_id, id }))[0];
}

export function* insertThread(row: ThreadRow, placement: PlacementRow): Unit<void> {
  yield* insert(row);
  yield* insertPlacement(placement);
  yield* saveTitle({ workspace_id: row.workspace_id, thread_id: row.id, title: row.title_search });
}

/** Every column of a thread: a row without one of them does not fit the type. */
const COLUMNS = Object.keys({
  id: 0,
  workspace_id: 0,
  title: 0,
  title_search: 0,
  agent_id: 0,
  status: 0,
  pinned_at: 0,
  last_snippet: 0,
  message_count: 0,
  worktree_path: 0,
  worktree_branch: 0,
  parent_thread_id: 0,
  attributes: 0,
  config: 0,
  file_root: 0,
  file_folder: 0,
  read_only: 0,
  own_stamp: 0,
  envelope_stamp: 0,
  log_stamp: 0,
  log_size: 0,
  log_tail: 0,
  words_to: 0,
  history_epoch: 0,
  history_from: 0,
  history_to: 0,
  setup: 0,
  granted_tools: 0,
  program_session: 0,
  callback_secret: 0,
  named: 0,
  created_at: 0,
  updated_at: 0,
  deleted_at: 0,
} satisfies Record<keyof ThreadRow, 0>) as (keyof ThreadRow)[];

const insert = prepared<ThreadRow, unknown>(({ db }, arg) =>
  db.insertInto("thread").values(Object.fromEntries(COLUMNS.map((column) => [column, arg(column)])) as never),
);

const insertPlacement = prepared<PlacementRow, unknown>(({ db }, arg) =>
  db.insertInto("thread_placement").values({
    workspace_id: arg("workspace_id"),
    thread_id: arg("thread_id"),
    folder_id: arg("folder_id"),
    rank: arg("rank"),
  }),
);

/** One compiled statement for each set of columns that are ever changed together; there are a dozen. */
const updates = new Map<string, ReturnType<typeof updateOf>>();

function updateOf(columns: readonly string[]) {
  return prepared<ThreadRow & { of_workspace: string; of_id: string }, unknown>(({ db }, arg) =>
    db
      .updateTable("thread")
      .set(Object.fromEntries(columns.map((column) => [column, arg(column as keyof ThreadRow)])))
      .where("workspace_id", "=", arg("of_workspace"))
      .where("id", "=", arg("of_id")),
  );
}

export function* updateThread(workspace_id: string, id: string, changes: Partial<ThreadRow>): Unit<void> {
  const columns = Object.keys(changes).sort();
  const key = columns.join(" ");
  const update = updates.get(key) ?? updateOf(columns);
  updates.set(key, update);
  yield* update({ ...(changes as ThreadRow), of_workspace: workspace_id, of_id: id });
  const { title_search } = changes;
  if (title_search !== undefined) yield* saveTitle({ workspace_id, thread_id: id, title: title_search });
}

export function* savePlacement(row: PlacementRow): Unit<void> {
  yield* query(({ db }) =>
    db
      .insertInto("thread_placement")
      .values(row)
      .onConflict((conflict) =>
        conflict
          .columns(["workspace_id", "thread_id"])
          .doUpdateSet({ folder_id: row.folder_id, rank: row.rank }),
      ),
  );
}

/** Ids of the living threads directly in a folder. */
export function* threadIdsIn(workspace_id: string, folder_id: string): Unit<string[]> {
  const rows = yield* query(({ db }) =>
    db
      .selectFrom("thread_placement as p")
      .innerJoin("thread as t", (join) =>
        join.onRef("t.workspace_id", "=", "p.workspace_id").onRef("t.id", "=", "p.thread_id"),
      )
      .select("t.id")
      .where("p.workspace_id", "=", workspace_id)
      .where("p.folder_id", "=", folder_id)
      .where("t.deleted_at", "is", null),
  );
  return rows.map((row) => row.id);
}

export function* findPlacedThreads(workspace_id: string, ids: readonly string[]): Unit<PlacedThreadRow[]> {
  if (ids.length === 0) return [];
  return yield* query((s) =>
    placedThreads(s).where("t.workspace_id", "=", workspace_id).where("t.id", "in", ids).orderBy("p.rank"),
  );
}

/** The thread of an agent that was updated last, and can be written to. */
export function* latestOfAgent(workspace_id: string, agent_id: string): Unit<PlacedThreadRow | undefined> {
  const found = yield* first(({ db }) =>
    db
      .selectFrom("thread")
      .select("id")
      .where("workspace_id", "=", workspace_id)
      .where("agent_id", "=", agent_id)
      .where("deleted_at", "is", null)
      .where("read_only", "is", null)
      .orderBy("updated_at", "desc")
      .orderBy("id", "desc")
      .limit(1),
  );
  return found && (yield* findPlacedThreads(workspace_id, [found.id]))[0];
}

export function* purgeThreads(deletedBefore: number): Unit<void> {
  yield* query(({ db }) => db.deleteFrom("thread").where("deleted_at", "<", deletedBefore));
}
