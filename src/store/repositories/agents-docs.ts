import { sql, type Updateable } from "kysely";
import type { AgentsDocRevisionRow, AgentsDocRow } from "../schema.js";
import { first, prepared, query, type Sql, type Unit } from "../unit.js";

const LIVE = sql<boolean>`status <> 'archived'`;

const selectRoot = prepared<{ workspace_id: string }, AgentsDocRow>(({ db }, arg) =>
  db
    .selectFrom("thread_agents_doc")
    .selectAll()
    .where("workspace_id", "=", arg("workspace_id"))
    .where(sql<boolean>`folder_id is null`)
    .where(LIVE),
);

const selectInFolder = prepared<{ workspace_id: string; folder_id: string }, AgentsDocRow>(({ db }, arg) =>
  db
    .selectFrom("thread_agents_doc")
    .selectAll()
    .where("workspace_id", "=", arg("workspace_id"))
    .where("folder_id", "=", arg("folder_id"))
    .where(LIVE),
);

/** The explicit document of a scope, draft or active. */
export function* findExplicitDoc(
  workspace_id: string,
  folder_id: string | null,
): Unit<AgentsDocRow | undefined> {
  const rows =
    folder_id === null
      ? yield* selectRoot({ workspace_id })
      : yield* selectInFolder({ workspace_id, folder_id });
  return rows[0];
}

export function* findDoc(workspace_id: string, id: string): Unit<AgentsDocRow | undefined> {
  return yield* first(({ db }) =>
    db
      .selectFrom("thread_agents_doc")
      .selectAll()
      .where("id", "=", id)
      .where("workspace_id", "=", workspace_id),
  );
}

export function* insertDoc(row: AgentsDocRow): Unit<void> {
  yield* query(({ db }) => db.insertInto("thread_agents_doc").values(row));
}

export function* updateDoc(id: string, changes: Updateable<AgentsDocRow>): Unit<AgentsDocRow> {
  const row = yield* first(({ db }) =>
    db.updateTable("thread_agents_doc").set(changes).where("id", "=", id).returningAll(),
  );
  return row as AgentsDocRow;
}

export type AgentsDocSummaryRow = Pick<
  AgentsDocRow,
  "id" | "workspace_id" | "folder_id" | "status" | "content_sha256" | "char_count" | "version" | "updated_at"
>;

export const listDocSummaries = prepared<{ workspace_id: string }, AgentsDocSummaryRow>(({ db }, arg) =>
  db
    .selectFrom("thread_agents_doc")
    .select([
      "id",
      "workspace_id",
      "folder_id",
      "status",
      "content_sha256",
      "char_count",
      "version",
      "updated_at",
    ])
    .where("workspace_id", "=", arg("workspace_id"))
    .where(LIVE)
    .orderBy("id"),
);

export const insertRevision = prepared<AgentsDocRevisionRow, unknown>(({ db }, arg) =>
  db.insertInto("thread_agents_doc_revision").values({
    doc_id: arg("doc_id"),
    version: arg("version"),
    content: arg("content"),
    content_sha256: arg("content_sha256"),
    char_count: arg("char_count"),
    reason: arg("reason"),
    saved_at: arg("saved_at"),
    saved_by: arg("saved_by"),
  }),
);

export function* findRevision(doc_id: string, version: number): Unit<AgentsDocRevisionRow | undefined> {
  return yield* first(({ db }) =>
    db
      .selectFrom("thread_agents_doc_revision")
      .selectAll()
      .where("doc_id", "=", doc_id)
      .where("version", "=", version),
  );
}

export interface RevisionPage {
  readonly workspace_id: string;
  readonly folder_id: string | null;
  readonly after?: { readonly doc_id: string; readonly version: number } | undefined;
  readonly limit: number;
}

/** Revisions of every document a scope ever had, newest first. Document ids sort by age. */
export function* listRevisions(page: RevisionPage): Unit<Omit<AgentsDocRevisionRow, "content">[]> {
  return yield* query(({ db }) => {
    const rows = db
      .selectFrom("thread_agents_doc as d")
      .innerJoin("thread_agents_doc_revision as r", "r.doc_id", "d.id")
      .select([
        "r.doc_id",
        "r.version",
        "r.content_sha256",
        "r.char_count",
        "r.reason",
        "r.saved_at",
        "r.saved_by",
      ])
      .where("d.workspace_id", "=", page.workspace_id)
      .where("d.folder_id", page.folder_id === null ? "is" : "=", page.folder_id)
      .orderBy("r.doc_id", "desc")
      .orderBy("r.version", "desc")
      .limit(page.limit);
    const after = page.after;
    if (!after) return rows;
    return rows.where(({ eb, refTuple, tuple }) =>
      eb(refTuple("r.doc_id", "r.version"), "<", tuple(after.doc_id, after.version)),
    );
  });
}

/** One level of the way from a scope up to the root, and on its first row the nearest active document. */
interface WalkRow extends Omit<AgentsDocRow, "id" | "workspace_id" | "folder_id"> {
  scope_workspace: string;
  /** The folder or thread that was asked for; null when the workspace has none of that id. */
  subject: string | null;
  level_id: string | null;
  level_name: string | null;
  level_depth: number | null;
  source_depth: number | null;
  doc_id: string | null;
  doc_folder: string | null;
}

/** Deeper than any folder can be: where the root document stands in the order of nearness. */
const ROOT_DEPTH = 1_000;

/** The way from a scope to the root and the nearest active document on it. */
export interface Walk {
  readonly subject: string | null;
  /** From the scope's own folder up; empty for the root. */
  readonly levels: readonly { readonly id: string; readonly name: string }[];
  /** The nearest active document, and how many levels above the scope's own it stands. */
  readonly nearest?: { readonly doc: AgentsDocRow; readonly level: number };
}

type Start = (sql: Sql, arg: (key: "workspace_id" | "subject") => string) => ReturnType<typeof startAtRoot>;

function startAtRoot({ db }: Sql, arg: (key: "workspace_id" | "subject") => string) {
  return db
    .selectFrom("workspace as w")
    .select([
      "w.id as workspace_id",
      sql<string | null>`w.id`.as("subject"),
      sql<string | null>`cast(null as text)`.as("folder_id"),
    ])
    .where("w.id", "=", arg("workspace_id"))
    .where("w.deleted_at", "is", null);
}

const startAtFolder: Start = ({ db }, arg) =>
  db
    .selectFrom("workspace as w")
    .leftJoin("thread_folder as f", (join) =>
      join.onRef("f.workspace_id", "=", "w.id").on("f.id", "=", arg("subject")),
    )
    .select(["w.id as workspace_id", "f.id as subject", "f.id as folder_id"])
    .where("w.id", "=", arg("workspace_id"))
    .where("w.deleted_at", "is", null) as never;

const startAtThread: Start = ({ db }, arg) =>
  db
    .selectFrom("workspace as w")
    .leftJoin("thread as t", (join) =>
      join
        .onRef("t.workspace_id", "=", "w.id")
        .on("t.id", "=", arg("subject"))
        .on("t.deleted_at", "is", null),
    )
    .leftJoin("thread_placement as p", (join) =>
      join.onRef("p.workspace_id", "=", "t.workspace_id").onRef("p.thread_id", "=", "t.id"),
    )
    .select(["w.id as workspace_id", "t.id as subject", "p.folder_id as folder_id"])
    .where("w.id", "=", arg("workspace_id"))
    .where("w.deleted_at", "is", null) as never;

/**
 * One query whatever the depth: the way up, the nearest active document on it, and its content once. `fromLevel` 1
 * leaves the scope's own document aside: what it would inherit.
 */
function walkQuery(start: Start, fromLevel: 0 | 1) {
  return prepared<{ workspace_id: string; subject: string }, WalkRow>(
    (s, arg) =>
      s.db
        // RECURSIVE stands once, at the first of them, and holds for all.
        .withRecursive("start", () => start(s, arg))
        .withRecursive("up(id, parent_folder_id, name, depth)", (q) =>
          q
            .selectFrom("start")
            .innerJoin("thread_folder as f", "f.id", "start.folder_id")
            .select(["f.id", "f.parent_folder_id", "f.name", sql<number>`0`.as("depth")])
            .unionAll(
              q
                .selectFrom("up")
                .innerJoin("thread_folder as f", "f.id", "up.parent_folder_id")
                .select(["f.id", "f.parent_folder_id", "f.name", sql<number>`up.depth + 1`.as("depth")]),
            ),
        )
        .with("nearest", (q) =>
          q
            .selectFrom("start")
            // SQLite keeps the order of a cross join; left to choose, it reads every document of the workspace.
            .crossJoin("up")
            .crossJoin("thread_agents_doc as d")
            .select(["d.id", "up.depth as depth"])
            .where("up.depth", ">=", fromLevel)
            .whereRef("d.workspace_id", "=", "start.workspace_id")
            .whereRef("d.folder_id", "=", "up.id")
            .where(sql<boolean>`d.status <> 'archived' and d.status = 'active'`)
            .unionAll(
              q
                .selectFrom("start")
                .innerJoin("thread_agents_doc as d", "d.workspace_id", "start.workspace_id")
                .select(["d.id", sql<number>`${sql.lit(ROOT_DEPTH)}`.as("depth")])
                .where(sql<boolean>`d.folder_id is null and d.status <> 'archived' and d.status = 'active'`)
                .$if(fromLevel === 1, (root) => root.where("start.folder_id", "is not", null)),
            )
            .orderBy("depth")
            .limit(1),
        )
        .selectFrom("start")
        .leftJoin("up", (join) => join.onTrue())
        .leftJoin("nearest", (join) => join.onTrue())
        .leftJoin("thread_agents_doc as d", (join) =>
          join.onRef("d.id", "=", "nearest.id").on(sql<boolean>`coalesce(up.depth, 0) = 0`),
        )
        .select([
          "start.workspace_id as scope_workspace",
          "start.subject",
          "up.id as level_id",
          "up.name as level_name",
          "up.depth as level_depth",
          "nearest.depth as source_depth",
          "d.id as doc_id",
          "d.folder_id as doc_folder",
          "d.status",
          "d.title",
          "d.content",
          "d.content_sha256",
          "d.char_count",
          "d.version",
          "d.created_at",
          "d.updated_at",
          "d.archived_at",
          "d.created_by",
          "d.updated_by",
        ])
        .orderBy("up.depth") as never,
  );
}

const walks = {
  root: [walkQuery(startAtRoot, 0), walkQuery(startAtRoot, 1)],
  folder: [walkQuery(startAtFolder, 0), walkQuery(startAtFolder, 1)],
  thread: [walkQuery(startAtThread, 0), walkQuery(startAtThread, 1)],
} as const;

export type WalkFrom = { readonly folder_id: string | null } | { readonly thread_id: string };

/** Walks from a scope or thread to the root. Undefined: no such workspace. `subject` null: no such folder or thread. */
export function* walkToRoot(
  workspace_id: string,
  from: WalkFrom,
  fromLevel: 0 | 1 = 0,
): Unit<Walk | undefined> {
  const start = "thread_id" in from ? "thread" : from.folder_id === null ? "root" : "folder";
  const subject = "thread_id" in from ? from.thread_id : (from.folder_id ?? "");
  const rows = yield* walks[start][fromLevel]({ workspace_id, subject });
  const top = rows[0];
  if (!top) return undefined;
  const levels = rows
    .filter((row) => row.level_id !== null)
    .map((row) => ({ id: row.level_id as string, name: row.level_name as string }));
  if (top.doc_id === null) return { subject: top.subject, levels };
  const level = Math.min(top.source_depth as number, levels.length);
  return { subject: top.subject, levels, nearest: { doc: docOf(top), level } };
}

function docOf(row: WalkRow): AgentsDocRow {
  const {
    doc_id,
    doc_folder,
    scope_workspace,
    subject,
    level_id,
    level_name,
    level_depth,
    source_depth,
    ...doc
  } = row;
  return { id: doc_id as string, workspace_id: scope_workspace, folder_id: doc_folder, ...doc };
}
