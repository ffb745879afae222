import type { Updateable } from "kysely";
import type { WorkspaceRow } from "../schema.js";
import { first, prepared, query, type Unit } from "../unit.js";

const select = prepared<{ id: string }, WorkspaceRow>(({ db }, arg) =>
  db.selectFrom("workspace").selectAll().where("id", "=", arg("id")).where("deleted_at", "is", null),
);

const selectForUpdate = prepared<{ id: string }, Pick<WorkspaceRow, "id">>(({ db, dialect }, arg) => {
  const row = db
    .selectFrom("workspace")
    .select("id")
    .where("id", "=", arg("id"))
    .where("deleted_at", "is", null);
  return dialect === "postgres" ? row.forUpdate() : row;
});

export function* findWorkspace(id: string): Unit<WorkspaceRow | undefined> {
  return (yield* select({ id }))[0];
}

/** The first statement of every unit that changes a workspace: whoever comes second waits here. */
export function* lockWorkspace(id: string): Unit<boolean> {
  return (yield* selectForUpdate({ id })).length > 0;
}

export function* findDeletedWorkspace(id: string): Unit<WorkspaceRow | undefined> {
  return yield* first(({ db }) =>
    db.selectFrom("workspace").selectAll().where("id", "=", id).where("deleted_at", "is not", null),
  );
}

export function* findWorkspaceByPath(root_path: string): Unit<WorkspaceRow | undefined> {
  return yield* first(({ db }) =>
    db.selectFrom("workspace").selectAll().where("root_path", "=", root_path).where("deleted_at", "is", null),
  );
}

export function* findHome(): Unit<WorkspaceRow | undefined> {
  return yield* first(({ db }) => db.selectFrom("workspace").selectAll().where("home", "=", 1));
}

/** Oldest first, after the workspace that ended the page before. */
export function* listWorkspaces(
  limit: number,
  after?: { created_at: number; id: string },
): Unit<WorkspaceRow[]> {
  return yield* query(({ db }) => {
    const rows = db
      .selectFrom("workspace")
      .selectAll()
      .where("deleted_at", "is", null)
      .orderBy("created_at")
      .orderBy("id")
      .limit(limit);
    if (!after) return rows;
    return rows.where(({ eb, refTuple, tuple }) =>
      eb(refTuple("created_at", "id"), ">", tuple(after.created_at, after.id)),
    );
  });
}

export function* insertWorkspace(row: WorkspaceRow): Unit<void> {
  yield* query(({ db }) => db.insertInto("workspace").values(row));
}

export function* updateWorkspace(
  id: string,
  changes: Updateable<WorkspaceRow>,
): Unit<WorkspaceRow | undefined> {
  return yield* first(({ db }) =>
    db.updateTable("workspace").set(changes).where("id", "=", id).returningAll(),
  );
}

/** Removes for good what was deleted before a time, with all that belongs to it. */
export function* purgeWorkspaces(deletedBefore: number): Unit<void> {
  // Threads first: PostgreSQL checks that nothing points at a folder before it cascades to the placements.
  yield* query(({ db }) =>
    db
      .deleteFrom("thread")
      .where("workspace_id", "in", (q) =>
        q.selectFrom("workspace").select("id").where("deleted_at", "<", deletedBefore),
      ),
  );
  yield* query(({ db }) => db.deleteFrom("workspace").where("deleted_at", "<", deletedBefore));
}

export function* workspacesDeletedBefore(time: number): Unit<WorkspaceRow[]> {
  return yield* query(({ db }) => db.selectFrom("workspace").selectAll().where("deleted_at", "<", time));
}
