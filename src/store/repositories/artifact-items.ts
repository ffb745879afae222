import { sql, type Updateable } from "kysely";
import type { ArtifactItemRow } from "../schema.js";
import { first, query, type Unit } from "../unit.js";

/** An item as it is read. */
export type StoredItem = Omit<ArtifactItemRow, "tag_search" | "search">;

const COLUMNS = [
  "id",
  "workspace_id",
  "list_id",
  "position",
  "title",
  "notes",
  "url",
  "tags",
  "done",
  "created_at",
  "updated_at",
  "deleted_at",
] as const;

export function* insertItem(row: ArtifactItemRow): Unit<void> {
  yield* query(({ db }) => db.insertInto("artifact_item").values(row));
}

export function* updateItem(id: string, changes: Updateable<ArtifactItemRow>): Unit<StoredItem> {
  const row = yield* first(({ db }) =>
    db.updateTable("artifact_item").set(changes).where("id", "=", id).returning(COLUMNS),
  );
  return row as StoredItem;
}

/** Also one that was removed. */
export function* findItem(workspace_id: string, id: string): Unit<StoredItem | undefined> {
  return yield* first(({ db }) =>
    db
      .selectFrom("artifact_item")
      .select(COLUMNS)
      .where("id", "=", id)
      .where("workspace_id", "=", workspace_id),
  );
}

export interface Titled {
  readonly workspace_id: string;
  readonly title: string;
  /** In this list only. */
  readonly list_id?: string | undefined;
  readonly limit: number;
}

/** Those of exactly this title, in lists that are there. */
export function* itemsTitled({ workspace_id, title, list_id, limit }: Titled): Unit<StoredItem[]> {
  return yield* query(({ db }) => {
    const rows = db
      .selectFrom("artifact_item as i")
      .innerJoin("artifact as l", "l.id", "i.list_id")
      .select(COLUMNS.map((column) => `i.${column}` as const))
      .where("i.workspace_id", "=", workspace_id)
      .where("i.title", "=", title)
      .where("i.deleted_at", "is", null)
      .where("l.deleted_at", "is", null)
      .orderBy("i.id")
      .limit(limit);
    return list_id === undefined ? rows : rows.where("i.list_id", "=", list_id);
  });
}

export interface ItemPage {
  readonly list_id: string;
  readonly deleted?: boolean | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** The items of a list in their order. */
export function* listItems({ list_id, deleted, offset, limit }: ItemPage): Unit<StoredItem[]> {
  return yield* query(({ db }) =>
    db
      .selectFrom("artifact_item")
      .select(COLUMNS)
      .where("list_id", "=", list_id)
      .where("deleted_at", deleted ? "is not" : "is", null)
      .orderBy("position")
      .orderBy("id")
      .limit(limit)
      .offset(offset),
  );
}

export interface ItemCounts {
  readonly list_id: string;
  readonly items: number;
  readonly done: number;
}

/** How many items each of these lists has. */
export function* countItems(list_ids: readonly string[]): Unit<ItemCounts[]> {
  if (list_ids.length === 0) return [];
  const rows = yield* query(({ db }) =>
    db
      .selectFrom("artifact_item")
      .select(({ fn }) => ["list_id", fn.countAll().as("items"), fn.sum("done").as("done")])
      .where("list_id", "in", list_ids)
      .where("deleted_at", "is", null)
      .groupBy("list_id"),
  );
  return rows.map(({ list_id, items, done }) => ({ list_id, items: Number(items), done: Number(done) }));
}

/** Of all lists that are there. */
export function* countAllItems(workspace_id: string): Unit<number> {
  const row = yield* first(({ db }) =>
    db
      .selectFrom("artifact_item as i")
      .innerJoin("artifact as l", "l.id", "i.list_id")
      .select(({ fn }) => fn.countAll().as("n"))
      .where("i.workspace_id", "=", workspace_id)
      .where("i.deleted_at", "is", null)
      .where("l.deleted_at", "is", null),
  );
  return Number(row?.n ?? 0);
}

/** The position behind the last item of a list, removed ones too: nothing comes to stand on one that is taken. */
export function* endOfList(list_id: string): Unit<number> {
  const row = yield* first(({ db }) =>
    db
      .selectFrom("artifact_item")
      .select("position")
      .where("list_id", "=", list_id)
      .orderBy("position", "desc")
      .limit(1),
  );
  return (row?.position ?? 0) + 1;
}

/** Makes room for some items before a position, removed ones moving along. */
export function* shiftItems(list_id: string, from: number, by: number): Unit<void> {
  yield* query(({ db }) =>
    db
      .updateTable("artifact_item")
      .set(({ eb }) => ({ position: eb("position", "+", by) }))
      .where("list_id", "=", list_id)
      .where("position", ">=", from),
  );
}

export interface ItemFilter {
  readonly workspace_id: string;
  /** In one of these lists; absent: in any. */
  readonly list_ids?: readonly string[] | undefined;
  readonly not_list_ids?: readonly string[] | undefined;
  readonly done?: boolean | undefined;
  /** Patterns of `like`: over the folded tags, and over everything an item says. */
  readonly tags: readonly ItemPattern[];
  readonly texts: readonly ItemPattern[];
  readonly offset: number;
  readonly limit: number;
}

export interface ItemPattern {
  readonly pattern: string;
  /** It must not fit. */
  readonly not: boolean;
}

export type FoundItem = StoredItem & { readonly list_name: string };

/** The items of all lists that fit, list by list, each in its order. */
export function* filterItems(filter: ItemFilter): Unit<FoundItem[]> {
  const { list_ids, not_list_ids, done } = filter;
  return yield* query(({ db }) => {
    let rows = db
      .selectFrom("artifact_item as i")
      .innerJoin("artifact as l", "l.id", "i.list_id")
      .select([...COLUMNS.map((column) => `i.${column}` as const), "l.name as list_name"])
      .where("i.workspace_id", "=", filter.workspace_id)
      .where("i.deleted_at", "is", null)
      .where("l.deleted_at", "is", null);
    if (list_ids) rows = rows.where("i.list_id", "in", list_ids);
    if (not_list_ids?.length) rows = rows.where("i.list_id", "not in", not_list_ids);
    if (done !== undefined) rows = rows.where("i.done", "=", Number(done));
    for (const { pattern, not } of filter.tags)
      rows = rows.where(fits(sql.ref("i.tag_search"), pattern, not));
    for (const { pattern, not } of filter.texts) rows = rows.where(fits(sql.ref("i.search"), pattern, not));
    return rows
      .orderBy("i.list_id")
      .orderBy("i.position")
      .orderBy("i.id")
      .limit(filter.limit)
      .offset(filter.offset);
  });
}

function fits(column: ReturnType<typeof sql.ref>, pattern: string, not: boolean) {
  return not
    ? sql<boolean>`${column} not like ${pattern} escape '\\'`
    : sql<boolean>`${column} like ${pattern} escape '\\'`;
}
