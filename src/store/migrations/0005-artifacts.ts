import { type ColumnDefinitionBuilder, sql } from "kysely";
import { query, type Unit } from "../unit.js";
import type { Migration } from "./migration.js";

/** Artifacts: lists with their items, notes, and views, which people and agents share. */
export const artifacts: Migration = { version: 5, up };

const required = (column: ColumnDefinitionBuilder) => column.notNull();
const toWorkspace = (column: ColumnDefinitionBuilder) =>
  column.notNull().references("workspace.id").onDelete("cascade");

function* up(): Unit<void> {
  yield* createArtifacts();
  yield* createItems();
  yield* createCalls();
}

function* createArtifacts(): Unit<void> {
  yield* query(({ db }) =>
    db.schema
      .createTable("artifact")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("workspace_id", "text", toWorkspace)
      .addColumn("kind", "text", (column) => column.notNull().check(sql`kind in ('list', 'note', 'view')`))
      .addColumn("name", "text", required)
      .addColumn("tags", "text", required)
      .addColumn("version", "integer", required)
      .addColumn("created_at", "bigint", required)
      .addColumn("updated_at", "bigint", required)
      .addColumn("deleted_at", "bigint")
      // Last: SQLite walks through the bytes of a large one to reach what stands behind them.
      .addColumn("body", "text", required)
      .addColumn("search", "text", required),
  );
  yield* query(({ db }) =>
    db.schema.createIndex("ix_artifact_name").on("artifact").columns(["workspace_id", "kind", "name"]),
  );
  yield* query(({ db }) =>
    db.schema
      .createIndex("ix_artifact_deleted")
      .on("artifact")
      .column("deleted_at")
      .where(sql<boolean>`deleted_at is not null`),
  );
}

function* createItems(): Unit<void> {
  yield* query(({ db }) =>
    db.schema
      .createTable("artifact_item")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("workspace_id", "text", toWorkspace)
      .addColumn("list_id", "text", (column) =>
        column.notNull().references("artifact.id").onDelete("cascade"),
      )
      .addColumn("position", "bigint", required)
      .addColumn("title", "text", required)
      .addColumn("notes", "text")
      .addColumn("url", "text")
      .addColumn("tags", "text", required)
      .addColumn("done", "integer", required)
      .addColumn("created_at", "bigint", required)
      .addColumn("updated_at", "bigint", required)
      .addColumn("deleted_at", "bigint")
      .addColumn("tag_search", "text", required)
      .addColumn("search", "text", required),
  );
  yield* query(({ db }) =>
    db.schema.createIndex("ix_artifact_item_list").on("artifact_item").columns(["list_id", "position", "id"]),
  );
  yield* query(({ db }) =>
    db.schema.createIndex("ix_artifact_item_title").on("artifact_item").columns(["workspace_id", "title"]),
  );
  yield* query(({ db }) =>
    db.schema
      .createIndex("ix_artifact_item_deleted")
      .on("artifact_item")
      .column("deleted_at")
      .where(sql<boolean>`deleted_at is not null`),
  );
}

function* createCalls(): Unit<void> {
  yield* query(({ db }) =>
    db.schema
      .createTable("artifact_call")
      .addColumn("workspace_id", "text", toWorkspace)
      .addColumn("call_key", "text", required)
      .addColumn("answer", "text", required)
      .addColumn("made_at", "bigint", required)
      .addPrimaryKeyConstraint("pk_artifact_call", ["workspace_id", "call_key"]),
  );
  yield* query(({ db }) =>
    db.schema.createIndex("ix_artifact_call_made_at").on("artifact_call").column("made_at"),
  );
}
