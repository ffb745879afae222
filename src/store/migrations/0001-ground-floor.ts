import { type ColumnDefinitionBuilder, type CreateTableBuilder, sql } from "kysely";
import { query, type Sql, type Unit } from "../unit.js";
import type { Migration } from "./migration.js";

/** Workspaces, folders, threads, placements, AGENTS.md documents with revisions, and the log of notifications. */
export const groundFloor: Migration = { version: 1, up };

const required = (column: ColumnDefinitionBuilder) => column.notNull();
const toWorkspace = (column: ColumnDefinitionBuilder) =>
  column.notNull().references("workspace.id").onDelete("cascade");

function* up(): Unit<void> {
  for (const build of tables) yield* query(({ db }) => build(db.schema));
  for (const build of indexes) yield* query(({ db }) => build(db.schema));
}

type Schema = Sql["db"]["schema"];

const tables: readonly ((schema: Schema) => CreateTableBuilder<string, string>)[] = [
  (schema) =>
    schema
      .createTable("workspace")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("name", "text", required)
      .addColumn("root_path", "text")
      .addColumn("home", "integer", required)
      .addColumn("seq", "bigint", required)
      .addColumn("created_at", "bigint", required)
      .addColumn("updated_at", "bigint", required)
      .addColumn("deleted_at", "bigint"),
  (schema) =>
    schema
      .createTable("thread_folder")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("workspace_id", "text", toWorkspace)
      .addColumn("parent_folder_id", "text", (column) => column.references("thread_folder.id"))
      .addColumn("name", "text", required)
      .addColumn("rank", "bigint", required)
      .addColumn("created_at", "bigint", required)
      .addColumn("updated_at", "bigint", required),
  (schema) =>
    schema
      .createTable("thread")
      .addColumn("workspace_id", "text", toWorkspace)
      .addColumn("id", "text", required)
      .addColumn("title", "text", required)
      .addColumn("title_search", "text", required)
      .addColumn("agent_id", "text", required)
      .addColumn("status", "text", required)
      .addColumn("pinned_at", "bigint")
      .addColumn("last_snippet", "text")
      .addColumn("message_count", "integer", required)
      .addColumn("worktree_path", "text")
      .addColumn("worktree_branch", "text")
      .addColumn("parent_thread_id", "text")
      .addColumn("attributes", "text")
      .addColumn("config", "text")
      .addColumn("created_at", "bigint", required)
      .addColumn("updated_at", "bigint", required)
      .addColumn("deleted_at", "bigint")
      .addPrimaryKeyConstraint("pk_thread", ["workspace_id", "id"]),
  (schema) =>
    schema
      .createTable("thread_placement")
      .addColumn("workspace_id", "text", required)
      .addColumn("thread_id", "text", required)
      .addColumn("folder_id", "text", (column) => column.references("thread_folder.id"))
      .addColumn("rank", "bigint", required)
      .addPrimaryKeyConstraint("pk_thread_placement", ["workspace_id", "thread_id"])
      .addForeignKeyConstraint(
        "fk_thread_placement_thread",
        ["workspace_id", "thread_id"],
        "thread",
        ["workspace_id", "id"],
        (constraint) => constraint.onDelete("cascade"),
      ),
  (schema) =>
    schema
      .createTable("thread_agents_doc")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("workspace_id", "text", toWorkspace)
      .addColumn("folder_id", "text")
      .addColumn("status", "text", (column) =>
        column.notNull().check(sql`status in ('draft', 'active', 'archived')`),
      )
      .addColumn("title", "text", required)
      .addColumn("content", "text", required)
      .addColumn("content_sha256", "text", required)
      .addColumn("char_count", "integer", required)
      .addColumn("version", "bigint", required)
      .addColumn("created_at", "bigint", required)
      .addColumn("updated_at", "bigint", required)
      .addColumn("archived_at", "bigint")
      .addColumn("created_by", "text")
      .addColumn("updated_by", "text"),
  (schema) =>
    schema
      .createTable("thread_agents_doc_revision")
      .addColumn("doc_id", "text", (column) =>
        column.notNull().references("thread_agents_doc.id").onDelete("cascade"),
      )
      .addColumn("version", "bigint", required)
      .addColumn("content", "text", required)
      .addColumn("content_sha256", "text", required)
      .addColumn("char_count", "integer", required)
      .addColumn("reason", "text", required)
      .addColumn("saved_at", "bigint", required)
      .addColumn("saved_by", "text")
      .addPrimaryKeyConstraint("pk_thread_agents_doc_revision", ["doc_id", "version"]),
  (schema) =>
    schema
      .createTable("notification")
      .addColumn("workspace_id", "text", toWorkspace)
      .addColumn("seq", "bigint", required)
      .addColumn("method", "text", required)
      .addColumn("params", "text", required)
      .addColumn("created_at", "bigint", required)
      .addPrimaryKeyConstraint("pk_notification", ["workspace_id", "seq"]),
];

const indexes: readonly ((schema: Schema) => {
  compile(): ReturnType<CreateTableBuilder<string>["compile"]>;
})[] = [
  (schema) =>
    schema
      .createIndex("uq_thread_agents_doc_root_active")
      .unique()
      .on("thread_agents_doc")
      .column("workspace_id")
      .where(sql<boolean>`folder_id is null and status <> 'archived'`),
  (schema) =>
    schema
      .createIndex("uq_thread_agents_doc_folder_active")
      .unique()
      .on("thread_agents_doc")
      .columns(["workspace_id", "folder_id"])
      .where(sql<boolean>`folder_id is not null and status <> 'archived'`),
  // Every document a scope ever had, for its history.
  (schema) =>
    schema
      .createIndex("ix_thread_agents_doc_scope")
      .on("thread_agents_doc")
      .columns(["workspace_id", "folder_id", "id"]),
  (schema) =>
    schema
      .createIndex("uq_workspace_root_path")
      .unique()
      .on("workspace")
      .column("root_path")
      .where(sql<boolean>`root_path is not null and deleted_at is null`),
  (schema) =>
    schema
      .createIndex("uq_workspace_home")
      .unique()
      .on("workspace")
      .column("home")
      .where(sql<boolean>`home = 1`),
  (schema) =>
    schema
      .createIndex("ix_thread_folder_siblings")
      .on("thread_folder")
      .columns(["workspace_id", "parent_folder_id", "rank"]),
  (schema) => schema.createIndex("ix_thread_folder_parent").on("thread_folder").column("parent_folder_id"),
  (schema) =>
    schema
      .createIndex("ix_thread_placement_siblings")
      .on("thread_placement")
      .columns(["workspace_id", "folder_id", "rank"]),
  (schema) => schema.createIndex("ix_thread_placement_folder").on("thread_placement").column("folder_id"),
  (schema) => schema.createIndex("ix_thread_id").on("thread").column("id"),
  ...["updated_at", "created_at"].map(
    (column) => (schema: Schema) =>
      schema
        .createIndex(`ix_thread_${column}`)
        .on("thread")
        .columns(["workspace_id", column, "id"])
        .where(sql<boolean>`deleted_at is null`),
  ),
  (schema) =>
    schema
      .createIndex("ix_thread_agent")
      .on("thread")
      .columns(["workspace_id", "agent_id", "updated_at", "id"])
      .where(sql<boolean>`deleted_at is null`),
];
