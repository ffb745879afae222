import { sql } from "kysely";
import type { ThreadRow } from "../schema.js";
import { first, prepared, query, type Sql, type Unit } from "../unit.js";
import { type PlacedThreadRow, placedThreads, shown } from "./placed-threads.js";
import { GRAM, titleHas } from "./titles.js";

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
  treeThreads(s, arg("workspace_id")).where(sql<boolean>`t.pinned_at is not null`).limit(arg("limit")),
);

type Updated = Pick<ThreadRow, "updated_at" | "id">;

/** Whether there are more than so many, the deleted ones counted too: it takes no time where there are not. */
const selectPlacement = prepared<{ workspace_id: string; after: number }, object>(({ db }, arg) =>
  db
    .selectFrom("thread_placement")
    .select("thread_id")
    .where("workspace_id", "=", arg("workspace_id"))
    .orderBy("thread_id")
    .limit(1)
    .offset(arg("after")),
);

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
  const many = (yield* selectPlacement({ workspace_id, after: most })).length > 0;
  const [last] = many ? yield* selectUpdated({ workspace_id, after: most }) : [];
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
  readonly down_at: number;
  readonly down_id: string;
  readonly limit: number;
}

interface ListForm {
  readonly order: ThreadListFilter["order"];
  readonly inFolder: boolean;
  readonly ofAgent: boolean;
  readonly titled: boolean;
  readonly after: boolean;
  readonly downTo: boolean;
}

const lists = new Map<string, ReturnType<typeof listOf>>();

/** Building a query of so many columns takes a good part of the time it runs: each form is built once. */
function listOf({ order, inFolder, ofAgent, titled, after, downTo }: ListForm) {
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
      .$if(downTo, (rows) =>
        rows.where(({ eb, refTuple, tuple }) =>
          eb(refTuple(column, "t.id"), ">", tuple(arg("down_at"), arg("down_id"))),
        ),
      )
      .orderBy(column, "desc")
      .orderBy("t.id", "desc")
      .limit(arg("limit")),
  );
}

/** So many threads of a list are looked through for a title before the index of titles is asked. */
const LOOKED_THROUGH = 2_000;

/**
 * Newest first, after the thread that ended the page before. A part that many titles have is among the newest often
 * enough; one that few have is found by its pieces. Either way would take long for the other.
 */
export function* listThreads(filter: ThreadListFilter): Unit<PlacedThreadRow[]> {
  const { title_part: part, folder_id, limit } = filter;
  if (part === undefined || folder_id !== undefined || [...part].length < GRAM) return yield* listAll(filter);
  const last = yield* first((s) => nextOf(s, filter, LOOKED_THROUGH));
  if (!last) return yield* listAll(filter);
  const newest = yield* listAll({ ...filter, down_to: last });
  return newest.length >= limit ? newest : yield* query((s) => titled(s, filter, part));
}

/** The thread that a walk comes to after so many others. */
function nextOf({ db }: Sql, { workspace_id, agent_id, order, after }: ThreadListFilter, count: number) {
  return db
    .selectFrom("thread")
    .select([sql.ref<number>(order).as("at"), "id"])
    .where("workspace_id", "=", workspace_id)
    .where(sql<boolean>`deleted_at is null`)
    .$if(agent_id !== undefined, (rows) => rows.where("agent_id", "=", agent_id as string))
    .$if(after !== undefined, (rows) => rows.where(before(order, after as Place)))
    .orderBy(order, "desc")
    .orderBy("id", "desc")
    .limit(1)
    .offset(count);
}

type Place = NonNullable<ThreadListFilter["after"]>;

const before = (column: string, { at, id }: Place) => sql<boolean>`(${sql.ref(column)}, id) < (${at}, ${id})`;

/** SQLite keeps the order of a cross join; left to choose, it may look every thread up in the index of titles. */
function titled(s: Sql, { workspace_id, agent_id, order, after, limit }: ThreadListFilter, part: string) {
  const { db, dialect } = s;
  const named = (dialect === "postgres"
    ? db.selectFrom(sql<object>`thread_title`.as("n"))
    : db
        .selectFrom(sql<object>`thread_title_grams`.as("f"))
        .crossJoin(sql<object>`thread_title`.as("n"))
        .where(sql<boolean>`n.id = f.rowid`)) as unknown as ReturnType<
    typeof db.selectFrom<"workspace as n">
  >;
  return named
    .crossJoin("thread as t")
    .leftJoin("thread_placement as p", (join) =>
      join.onRef("p.workspace_id", "=", "t.workspace_id").onRef("p.thread_id", "=", "t.id"),
    )
    .where(titleHas(s, part))
    .where(sql<boolean>`n.workspace_id = ${workspace_id}`)
    .where(sql<boolean>`t.workspace_id = n.workspace_id and t.id = n.thread_id`)
    .where(sql<boolean>`t.deleted_at is null`)
    .where(sql<boolean>`t.title_search like ${patternOf(part)} escape '\\'`)
    .$if(agent_id !== undefined, (rows) => rows.where("t.agent_id", "=", agent_id as string))
    .$if(after !== undefined, (rows) =>
      rows.where(sql<boolean>`(${sql.ref(`t.${order}`)}, t.id) < (${after?.at}, ${after?.id})`),
    )
    .select(shown)
    .select(["p.folder_id", "p.rank"])
    .orderBy(`t.${order}`, "desc")
    .orderBy("t.id", "desc")
    .limit(limit);
}

function patternOf(part: string): string {
  return `%${part.replace(/[\\%_]/g, "\\$&")}%`;
}

/** `down_to`: the thread before which it ends. */
function* listAll(filter: ThreadListFilter & { down_to?: Place }): Unit<PlacedThreadRow[]> {
  const { workspace_id, agent_id, folder_id, title_part, after, order, limit, down_to } = filter;
  const form: ListForm = {
    order,
    inFolder: folder_id !== undefined,
    ofAgent: agent_id !== undefined,
    titled: title_part !== undefined,
    after: after !== undefined,
    downTo: down_to !== undefined,
  };
  const key = JSON.stringify(form);
  const list = lists.get(key) ?? listOf(form);
  lists.set(key, list);
  return yield* list({
    workspace_id,
    agent_id: agent_id ?? "",
    folder_id: folder_id ?? "",
    pattern: patternOf(title_part ?? ""),
    at: after?.at ?? 0,
    id: after?.id ?? "",
    down_at: down_to?.at ?? 0,
    down_id: down_to?.id ?? "",
    limit,
  });
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
