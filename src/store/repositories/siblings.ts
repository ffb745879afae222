import { sql } from "kysely";
import { first, prepared, query, type Sql, type Unit } from "../unit.js";

/** Distance between two neighbours after numbering anew: room for 26 halvings, and for 2^27 items at either end. */
export const RANK_GAP = 2 ** 26;

/** The things that share a parent and so an order: the folders, or the threads, of one folder or of the root. */
export interface Siblings {
  readonly table: "thread_folder" | "thread_placement";
  readonly workspace_id: string;
  readonly parent_id: string | null;
}

function parts(table: Siblings["table"]) {
  return table === "thread_folder"
    ? { id: sql.ref<string>("id"), parent: sql.ref<string>("parent_folder_id") }
    : { id: sql.ref<string>("thread_id"), parent: sql.ref<string>("folder_id") };
}

function members({ db }: Sql, { table, workspace_id, parent_id }: Siblings) {
  const { parent } = parts(table);
  return db
    .selectFrom(table)
    .where("workspace_id", "=", workspace_id)
    .where(parent_id === null ? sql<boolean>`${parent} is null` : sql<boolean>`${parent} = ${parent_id}`);
}

const edges = new Map<string, ReturnType<typeof edgeOf>>();

/** Asked for with every new thread: built once for each of its few forms. */
function edgeOf(table: Siblings["table"], edge: "first" | "last", atRoot: boolean) {
  const { parent } = parts(table);
  return prepared<{ workspace_id: string; parent_id: string }, { rank: number }>(({ db }, arg) =>
    db
      .selectFrom(table)
      .where("workspace_id", "=", arg("workspace_id"))
      .where(atRoot ? sql<boolean>`${parent} is null` : sql<boolean>`${parent} = ${arg("parent_id")}`)
      .select("rank")
      .orderBy("rank", edge === "first" ? "asc" : "desc")
      .limit(1),
  );
}

export function* edgeRank(siblings: Siblings, edge: "first" | "last"): Unit<number | undefined> {
  const { table, workspace_id, parent_id } = siblings;
  const key = `${table} ${edge} ${parent_id === null}`;
  const find = edges.get(key) ?? edgeOf(table, edge, parent_id === null);
  edges.set(key, find);
  return (yield* find({ workspace_id, parent_id: parent_id ?? "" }))[0]?.rank;
}

/** The rank of one member; undefined when it is not among these siblings, or deleted. */
export function* rankOf(siblings: Siblings, id: string): Unit<number | undefined> {
  const row = yield* first((s) =>
    members(s, siblings)
      .select("rank")
      .where(sql<boolean>`${parts(siblings.table).id} = ${id}`)
      .$if(siblings.table === "thread_placement", (rows) =>
        rows.where(({ exists, selectFrom }) =>
          exists(
            selectFrom("thread")
              .select("thread.id")
              .where("thread.workspace_id", "=", siblings.workspace_id)
              .where("thread.id", "=", id)
              .where("thread.deleted_at", "is", null),
          ),
        ),
      ),
  );
  return row?.rank;
}

/** The rank that follows, leaving aside the member that is being moved. */
export function* rankAfter(siblings: Siblings, rank: number, moving: string): Unit<number | undefined> {
  const row = yield* first((s) =>
    members(s, siblings)
      .select("rank")
      .where("rank", ">", rank)
      .where(sql<boolean>`${parts(siblings.table).id} <> ${moving}`)
      .orderBy("rank")
      .limit(1),
  );
  return row?.rank;
}

/** Spreads the siblings out again, keeping their order. */
export function* renumber(siblings: Siblings): Unit<void> {
  yield* moveAll(siblings, siblings.parent_id, 0);
}

/** Gives all members another parent, in their order, behind a rank: one statement, however many there are. */
export function* moveAll(siblings: Siblings, parent_id: string | null, behind: number): Unit<void> {
  const { table, workspace_id } = siblings;
  const { id } = parts(table);
  const rank = sql<number>`numbered.place * ${sql.lit(RANK_GAP)} + ${sql.lit(behind)}`;
  yield* query((s) =>
    s.db
      .updateTable(table)
      .from(
        members(s, siblings)
          .select([
            sql<string>`${id}`.as("member_id"),
            sql<number>`row_number() over (order by rank, ${id})`.as("place"),
          ])
          .as("numbered"),
      )
      .set(table === "thread_folder" ? { rank, parent_folder_id: parent_id } : { rank, folder_id: parent_id })
      .where(sql<boolean>`${sql.table(table)}.${id} = numbered.member_id`)
      .where(sql<boolean>`${sql.table(table)}.workspace_id = ${workspace_id}`),
  );
}
