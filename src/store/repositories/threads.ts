import { sql } from "kysely";
import type { PlacementRow, ThreadRow } from "../schema.js";
import { first, prepared, query, type Sql, type Unit } from "../unit.js";

/** What lists show of a thread; what is known of its files is read only where it is needed. */
const SHOWN = [
  "id",
  "workspace_id",
  "title",
  "agent_id",
  "status",
  "pinned_at",
  "last_snippet",
  "message_count",
  "worktree_path",
  "worktree_branch",
  "parent_thread_id",
  "attributes",
  "config",
  "setup",
  "granted_tools",
  "read_only",
  "created_at",
  "updated_at",
  "deleted_at",
] as const;

/** A thread with the place it has in the tree; a thread without a placement is at the root. */
export interface PlacedThreadRow extends Pick<ThreadRow, (typeof SHOWN)[number]> {
  folder_id: string | null;
  rank: number | null;
}

const shown = SHOWN.map((column) => `t.${column}` as const);

function placedThreads({ db }: Sql) {
  return db
    .selectFrom("thread as t")
    .leftJoin("thread_placement as p", (join) =>
      join.onRef("p.workspace_id", "=", "t.workspace_id").onRef("p.thread_id", "=", "t.id"),
    )
    .select(shown)
    .select(["p.folder_id", "p.rank"]);
}

/**
 * The threads of one folder, found through its placements. SQLite keeps the order of a cross join; left to choose, it
 * goes through every thread of the workspace and looks up where each of them stands.
 */
function threadsInFolder({ db }: Sql, folder_id: string): ReturnType<typeof placedThreads> {
  return db
    .selectFrom("thread_placement as p")
    .crossJoin("thread as t")
    .whereRef("t.workspace_id", "=", "p.workspace_id")
    .whereRef("t.id", "=", "p.thread_id")
    .where("p.folder_id", "=", folder_id)
    .select(shown)
    .select(["p.folder_id", "p.rank"]) as never;
}

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

/** In display order: pinned ones first, the latest pinned on top, then by rank. */
const treeThreads = (s: Sql, workspace_id: string) =>
  placedThreads(s)
    .where("t.workspace_id", "=", workspace_id)
    // A literal: an index on the living threads is used only when the query says so itself.
    .where(sql<boolean>`t.deleted_at is null`)
    .orderBy(sql`t.pinned_at desc nulls last`)
    .orderBy("p.rank")
    .orderBy("t.id");

const selectTree = prepared<{ workspace_id: string }, PlacedThreadRow>((s, arg) =>
  treeThreads(s, arg("workspace_id")),
);

const selectTreeSince = prepared<{ workspace_id: string } & Updated, PlacedThreadRow>((s, arg) =>
  treeThreads(s, arg("workspace_id"))
    .where("t.pinned_at", "is", null)
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple("t.updated_at", "t.id"), ">", tuple(arg("updated_at"), arg("id"))),
    ),
);

const selectPinned = prepared<{ workspace_id: string; limit: number }, PlacedThreadRow>((s, arg) =>
  treeThreads(s, arg("workspace_id"))
    .where(sql<boolean>`t.pinned_at is not null`)
    .limit(arg("limit")),
);

type Updated = Pick<ThreadRow, "updated_at" | "id">;

/** The one that was updated last, after so many others. */
const selectUpdated = prepared<{ workspace_id: string; after: number }, Updated>(({ db }, arg) =>
  db
    .selectFrom("thread")
    .select(["updated_at", "id"])
    .where("workspace_id", "=", arg("workspace_id"))
    .where(sql<boolean>`deleted_at is null`)
    .orderBy("updated_at", "desc")
    .orderBy("id", "desc")
    .limit(1)
    .offset(arg("after")),
);

/** The threads of a workspace in display order; of more than `most`, the pinned and the latest updated ones. */
export function* listTreeThreads(
  workspace_id: string,
  most: number,
): Unit<{ rows: PlacedThreadRow[]; truncated: boolean }> {
  const [last] = yield* selectUpdated({ workspace_id, after: most });
  if (!last) return { rows: yield* selectTree({ workspace_id }), truncated: false };
  const pinned = yield* selectPinned({ workspace_id, limit: most });
  const latest = yield* selectTreeSince({ workspace_id, ...last });
  return { rows: [...pinned, ...latest], truncated: true };
}

export interface ThreadListFilter {
  readonly workspace_id: string;
  readonly agent_id?: string | undefined;
  readonly folder_id?: string | undefined;
  /** Already folded as `title_search` is. */
  readonly title_part?: string | undefined;
  readonly order: "updated_at" | "created_at";
  readonly after?: { readonly at: number; readonly id: string } | undefined;
  readonly limit: number;
}

interface ListArgs {
  readonly workspace_id: string;
  readonly agent_id: string;
  readonly folder_id: string;
  readonly pattern: string;
  readonly at: number;
  readonly id: string;
  readonly limit: number;
}

interface ListForm {
  readonly order: ThreadListFilter["order"];
  readonly inFolder: boolean;
  readonly ofAgent: boolean;
  readonly titled: boolean;
  readonly after: boolean;
}

const lists = new Map<string, ReturnType<typeof listOf>>();

/** Building a query of so many columns takes a good part of the time it runs: each form is built once. */
function listOf({ order, inFolder, ofAgent, titled, after }: ListForm) {
  const column = `t.${order}` as const;
  return prepared<ListArgs, PlacedThreadRow>((s, arg) =>
    (inFolder ? threadsInFolder(s, arg("folder_id")) : placedThreads(s))
      .where("t.workspace_id", "=", arg("workspace_id"))
      // A literal: an index on the living threads is used only when the query says so itself.
      .where(sql<boolean>`t.deleted_at is null`)
      .$if(ofAgent, (rows) => rows.where("t.agent_id", "=", arg("agent_id")))
      .$if(titled, (rows) => rows.where(sql<boolean>`t.title_search like ${arg("pattern")} escape '\\'`))
      .$if(after, (rows) =>
        rows.where(({ eb, refTuple, tuple }) =>
          eb(refTuple(column, "t.id"), "<", tuple(arg("at"), arg("id"))),
        ),
      )
      .orderBy(column, "desc")
      .orderBy("t.id", "desc")
      .limit(arg("limit")),
  );
}

/** Newest first, after the thread that ended the page before. */
export function* listThreads(filter: ThreadListFilter): Unit<PlacedThreadRow[]> {
  const { workspace_id, agent_id, folder_id, title_part, after, order, limit } = filter;
  const form: ListForm = {
    order,
    inFolder: folder_id !== undefined,
    ofAgent: agent_id !== undefined,
    titled: title_part !== undefined,
    after: after !== undefined,
  };
  const key = JSON.stringify(form);
  const list = lists.get(key) ?? listOf(form);
  lists.set(key, list);
  return yield* list({
    workspace_id,
    agent_id: agent_id ?? "",
    folder_id: folder_id ?? "",
    pattern: `%${(title_part ?? "").replace(/[\\%_]/g, "\\$&")}%`,
    at: after?.at ?? 0,
    id: after?.id ?? "",
    limit,
  });
}

export function* insertThread(row: ThreadRow, placement: PlacementRow): Unit<void> {
  yield* insert(row);
  yield* insertPlacement(placement);
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
