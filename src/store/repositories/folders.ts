import { sql, type Updateable } from "kysely";
import type { FolderRow } from "../schema.js";
import { first, prepared, query, type Unit } from "../unit.js";

const select = prepared<{ workspace_id: string; id: string }, FolderRow>(({ db }, arg) =>
  db
    .selectFrom("thread_folder")
    .selectAll()
    .where("id", "=", arg("id"))
    .where("workspace_id", "=", arg("workspace_id")),
);

export function* findFolder(workspace_id: string, id: string): Unit<FolderRow | undefined> {
  return (yield* select({ workspace_id, id }))[0];
}

export function* listFolders(workspace_id: string): Unit<FolderRow[]> {
  return yield* query(({ db }) =>
    db
      .selectFrom("thread_folder")
      .selectAll()
      .where("workspace_id", "=", workspace_id)
      .orderBy("rank")
      .orderBy("id"),
  );
}

/** A page of a workspace's folders by their ids, for what is looked through as a whole. */
export const pageOfFolders = prepared<
  { workspace_id: string; after: string; limit: number },
  Pick<FolderRow, "id" | "parent_folder_id" | "name">
>(({ db }, arg) =>
  db
    .selectFrom("thread_folder")
    .select(["id", "parent_folder_id", "name"])
    .where("id", ">", arg("after"))
    // As it stands here no index has it: SQLite goes by the ids, and does not sort all folders for each page.
    .where(sql<boolean>`workspace_id || '' = ${arg("workspace_id")}`)
    .orderBy("id")
    .limit(arg("limit")),
);

export function* insertFolder(row: FolderRow): Unit<void> {
  yield* query(({ db }) => db.insertInto("thread_folder").values(row));
}

export function* updateFolder(id: string, changes: Updateable<FolderRow>): Unit<FolderRow> {
  const row = yield* first(({ db }) =>
    db.updateTable("thread_folder").set(changes).where("id", "=", id).returningAll(),
  );
  return row as FolderRow;
}

export function* deleteFolder(id: string): Unit<void> {
  yield* query(({ db }) => db.deleteFrom("thread_folder").where("id", "=", id));
}

/** Ids from a folder up to the root of the tree: one query, however deep. */
export function* folderAncestry(id: string): Unit<string[]> {
  const rows = yield* query(({ db }) =>
    db
      .withRecursive("up(id, parent_folder_id, depth)", (q) =>
        q
          .selectFrom("thread_folder")
          .select(["id", "parent_folder_id", sql<number>`0`.as("depth")])
          .where("id", "=", id)
          .unionAll(
            q
              .selectFrom("thread_folder as f")
              .innerJoin("up", "up.parent_folder_id", "f.id")
              .select(["f.id", "f.parent_folder_id", sql<number>`up.depth + 1`.as("depth")]),
          ),
      )
      .selectFrom("up")
      .select("id")
      .orderBy("depth"),
  );
  return rows.map((row) => row.id);
}

/** The names from the root down to a folder: one query, however many folders there are. */
export const folderPath = prepared<{ id: string }, { name: string }>(({ db }, arg) =>
  db
    .withRecursive("up(parent_folder_id, name, depth)", (q) =>
      q
        .selectFrom("thread_folder")
        .select(["parent_folder_id", "name", sql<number>`0`.as("depth")])
        .where("id", "=", arg("id"))
        .unionAll(
          q
            .selectFrom("thread_folder as f")
            .innerJoin("up", "up.parent_folder_id", "f.id")
            .select(["f.parent_folder_id", "f.name", sql<number>`up.depth + 1`.as("depth")]),
        ),
    )
    .selectFrom("up")
    .select("name")
    .orderBy("depth", "desc"),
);

/** A folder and all that are below it. */
export function* foldersBelow(id: string): Unit<FolderRow[]> {
  return yield* query(({ db }) =>
    db
      .withRecursive("down(id)", (q) =>
        q
          .selectFrom("thread_folder")
          .select("id")
          .where("id", "=", id)
          .unionAll(
            q
              .selectFrom("thread_folder as f")
              .innerJoin("down", "down.id", "f.parent_folder_id")
              .select("f.id"),
          ),
      )
      .selectFrom("down")
      // SQLite keeps the order of a cross join; left to choose, it goes through every folder there is.
      .crossJoin("thread_folder as t")
      .whereRef("t.id", "=", "down.id")
      .selectAll("t"),
  );
}

/** How many levels a folder and what is below it take: 1 for a folder without folders. */
export function* folderHeight(id: string): Unit<number> {
  const row = yield* first(({ db }) =>
    db
      .withRecursive("down(id, depth)", (q) =>
        q
          .selectFrom("thread_folder")
          .select(["id", sql<number>`1`.as("depth")])
          .where("id", "=", id)
          .unionAll(
            q
              .selectFrom("thread_folder as f")
              .innerJoin("down", "down.id", "f.parent_folder_id")
              .select(["f.id", sql<number>`down.depth + 1`.as("depth")]),
          ),
      )
      .selectFrom("down")
      .select(({ fn }) => fn.max("depth").as("height")),
  );
  return Number(row?.height ?? 0);
}

/** The folders directly below one (or the root), in order. */
export function* childFolders(workspace_id: string, parent_folder_id: string | null): Unit<FolderRow[]> {
  return yield* query(({ db }) =>
    db
      .selectFrom("thread_folder")
      .selectAll()
      .where("workspace_id", "=", workspace_id)
      .where("parent_folder_id", parent_folder_id === null ? "is" : "=", parent_folder_id)
      .orderBy("rank")
      .orderBy("id"),
  );
}

export function* findFolders(ids: readonly string[]): Unit<FolderRow[]> {
  if (ids.length === 0) return [];
  return yield* query(({ db }) =>
    db.selectFrom("thread_folder").selectAll().where("id", "in", ids).orderBy("rank"),
  );
}
