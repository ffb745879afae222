import { sql } from "kysely";
import type { ThreadRow } from "../schema.js";
import { first, prepared, query, type Unit } from "../unit.js";

/** Everything the index knows of a thread, in the bin or not, with its place in the tree. */
export type IndexedThreadRow = ThreadRow & { folder_id: string | null; rank: number | null };

const selectIndexed = prepared<{ workspace_id: string; id: string }, IndexedThreadRow>(({ db }, arg) =>
  db
    .selectFrom("thread as t")
    .leftJoin("thread_placement as p", (join) =>
      join.onRef("p.workspace_id", "=", "t.workspace_id").onRef("p.thread_id", "=", "t.id"),
    )
    .selectAll("t")
    .select(["p.folder_id", "p.rank"])
    .where("t.workspace_id", "=", arg("workspace_id"))
    .where("t.id", "=", arg("id")),
);

export function* findIndexed(workspace_id: string, id: string): Unit<IndexedThreadRow | undefined> {
  return (yield* selectIndexed({ workspace_id, id }))[0];
}

/** The same with where its workspace's files are; undefined also where the workspace is deleted. */
export type LocatedThreadRow = IndexedThreadRow & { workspace_root: string | null };

const selectLocated = prepared<{ workspace_id: string; id: string }, LocatedThreadRow>(({ db }, arg) =>
  db
    .selectFrom("thread as t")
    .innerJoin("workspace as w", "w.id", "t.workspace_id")
    .leftJoin("thread_placement as p", (join) =>
      join.onRef("p.workspace_id", "=", "t.workspace_id").onRef("p.thread_id", "=", "t.id"),
    )
    .selectAll("t")
    .select(["p.folder_id", "p.rank", "w.root_path as workspace_root"])
    .where("t.workspace_id", "=", arg("workspace_id"))
    .where("t.id", "=", arg("id"))
    .where("w.deleted_at", "is", null),
);

export function* findLocated(workspace_id: string, id: string): Unit<LocatedThreadRow | undefined> {
  return (yield* selectLocated({ workspace_id, id }))[0];
}

const SETTINGS = [
  "agent_id",
  "config",
  "read_only",
  "deleted_at",
  "file_root",
  "log_stamp",
  "log_size",
  "history_epoch",
  "history_to",
] as const satisfies readonly (keyof ThreadRow)[];

/** What a run of a thread is made from, in the bin or not, and how far its log was read and told. */
export type ThreadSettingsRow = Pick<ThreadRow, (typeof SETTINGS)[number]> & {
  readonly workspace_root: string | null;
  readonly workspace_deleted_at: number | null;
};

const selectSettings = prepared<{ workspace_id: string; id: string }, ThreadSettingsRow>(({ db }, arg) =>
  db
    .selectFrom("thread as t")
    .innerJoin("workspace as w", "w.id", "t.workspace_id")
    .select(SETTINGS.map((column) => `t.${column}` as const))
    .select(["w.root_path as workspace_root", "w.deleted_at as workspace_deleted_at"])
    .where("t.workspace_id", "=", arg("workspace_id"))
    .where("t.id", "=", arg("id")),
);

export function* findSettings(workspace_id: string, id: string): Unit<ThreadSettingsRow | undefined> {
  return (yield* selectSettings({ workspace_id, id }))[0];
}

export type FileStateRow = Pick<
  ThreadRow,
  "id" | "file_root" | "envelope_stamp" | "log_stamp" | "deleted_at"
>;

/** A page of what is looked through as a whole: the store does something else between two. */
export interface ThreadsPage {
  readonly workspace_id: string;
  /** The last of the page before; empty for the first. */
  readonly after: string;
  readonly limit: number;
}

/** What the index knows of threads' files, by their ids. */
export const pageOfFileStates = prepared<ThreadsPage, FileStateRow>(({ db }, arg) =>
  db
    .selectFrom("thread")
    .select(["id", "file_root", "envelope_stamp", "log_stamp", "deleted_at"])
    .where("workspace_id", "=", arg("workspace_id"))
    .where("id", ">", arg("after"))
    .orderBy("id")
    .limit(arg("limit")),
);

/** The most recently updated threads: those whose files are watched. */
export function* latestThreads(
  workspace_id: string,
  limit: number,
): Unit<Pick<ThreadRow, "id" | "file_root">[]> {
  return yield* query(({ db }) =>
    db
      .selectFrom("thread")
      .select(["id", "file_root"])
      .where("workspace_id", "=", workspace_id)
      .where("deleted_at", "is", null)
      .orderBy("updated_at", "desc")
      .orderBy("id", "desc")
      .limit(limit),
  );
}

export type WordStateRow = Pick<ThreadRow, "id" | "words_to" | "log_size" | "deleted_at" | "updated_at">;

/** Up to where the words of threads' messages are indexed, by their ids. */
export const pageOfWordStates = prepared<ThreadsPage, WordStateRow>(({ db }, arg) =>
  db
    .selectFrom("thread")
    .select(["id", "words_to", "log_size", "deleted_at", "updated_at"])
    .where("workspace_id", "=", arg("workspace_id"))
    .where("id", ">", arg("after"))
    .orderBy("id")
    .limit(arg("limit")),
);

/** Forgets a thread whose files are gone, with its place and its words. */
export function* removeThread(workspace_id: string, id: string): Unit<void> {
  yield* query(({ db }) =>
    db.deleteFrom("thread").where("workspace_id", "=", workspace_id).where("id", "=", id),
  );
}

/** Threads that were deleted before a time, a batch at a time. */
export function* deletedBefore(time: number, limit: number): Unit<Pick<ThreadRow, "workspace_id" | "id">[]> {
  return yield* query(({ db }) =>
    db
      .selectFrom("thread")
      .select(["workspace_id", "id"])
      .where("deleted_at", "<", time)
      .orderBy("workspace_id")
      .orderBy("id")
      .limit(limit),
  );
}

export interface FileFolderRow
  extends Pick<ThreadRow, "id" | "file_folder" | "envelope_stamp" | "deleted_at"> {
  folder_id: string | null;
}

/** Where threads stand by the store, and by their files, by their ids. */
export const pageOfFileFolders = prepared<ThreadsPage, FileFolderRow>(({ db }, arg) =>
  db
    .selectFrom("thread as t")
    .leftJoin("thread_placement as p", (join) =>
      join.onRef("p.workspace_id", "=", "t.workspace_id").onRef("p.thread_id", "=", "t.id"),
    )
    .select(["t.id", "p.folder_id", "t.file_folder", "t.envelope_stamp", "t.deleted_at"])
    .where("t.workspace_id", "=", arg("workspace_id"))
    .where("t.id", ">", arg("after"))
    .orderBy("t.id")
    .limit(arg("limit")),
);

/** The same for the threads in a folder and in those below it. */
export function* fileFoldersBelow(workspace_id: string, folder_id: string): Unit<FileFolderRow[]> {
  return yield* query(({ db }) =>
    db
      .withRecursive("down(id)", (q) =>
        q
          .selectFrom("thread_folder")
          .select("id")
          .where("id", "=", folder_id)
          .unionAll(
            q
              .selectFrom("thread_folder as f")
              .innerJoin("down", "down.id", "f.parent_folder_id")
              .select("f.id"),
          ),
      )
      .selectFrom("down")
      // SQLite keeps the order of a cross join; left to choose, it goes through every thread of the workspace.
      .crossJoin("thread_placement as p")
      .crossJoin("thread as t")
      .whereRef("p.folder_id", "=", "down.id")
      .where("p.workspace_id", "=", workspace_id)
      .whereRef("t.workspace_id", "=", "p.workspace_id")
      .whereRef("t.id", "=", "p.thread_id")
      .select(["t.id", "p.folder_id", "t.file_folder", "t.envelope_stamp", "t.deleted_at"]),
  );
}

export function* countThreads(workspace_id: string): Unit<number> {
  const row = yield* first(({ db }) =>
    db
      .selectFrom("thread")
      .select(({ fn }) => fn.countAll().as("count"))
      .where("workspace_id", "=", workspace_id)
      .where("deleted_at", "is", null),
  );
  return Number(row?.count ?? 0);
}

/** Set-ups that nobody ended: their gateway was killed. */
export function* runningSetups(): Unit<Pick<ThreadRow, "workspace_id" | "id" | "setup">[]> {
  return yield* query(({ db }) =>
    db
      .selectFrom("thread")
      .select(["workspace_id", "id", "setup"])
      // Said twice, or the index on the few threads that have one is not used.
      .where(sql<boolean>`setup is not null`)
      .where("setup", "like", '{"status":"running"%'),
  );
}

/** The words of a workspace's messages are to be made anew. */
export function* forgetWords(workspace_id: string): Unit<void> {
  yield* query(({ db }) =>
    db.updateTable("thread").set({ words_to: 0 }).where("workspace_id", "=", workspace_id),
  );
}
