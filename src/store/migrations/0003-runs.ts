import { type ColumnDefinitionBuilder, sql } from "kysely";
import { query, type Unit } from "../unit.js";
import type { Migration } from "./migration.js";

/** Runs: blobs, journals, what a thread's agent has been told so far, prompt packs. */
export const runs: Migration = { version: 3, up };

const required = (column: ColumnDefinitionBuilder) => column.notNull();
const toWorkspace = (column: ColumnDefinitionBuilder) =>
  column.notNull().references("workspace.id").onDelete("cascade");

/**
 * Journals, runs and histories have no foreign key to their thread: one whose files are away for a while is not in the
 * index, and what its agent was told must still be there when it comes back.
 */
function* up(): Unit<void> {
  yield* createBlobs();
  yield* createJournal();
  yield* createRuns();
  yield* createHistory();
  yield* createPromptPacks();
}

function* createBlobs(): Unit<void> {
  yield* query(({ db, dialect }) =>
    db.schema
      .createTable("blob")
      .addColumn("id", dialect === "postgres" ? "bigserial" : "integer", (column) => column.primaryKey())
      .addColumn("hash", "text", (column) => column.notNull().unique())
      .addColumn("size", "bigint", required)
      .addColumn("put_at", "bigint", required)
      // Last: SQLite walks through the bytes of a large one to reach what stands behind them.
      .addColumn("content", dialect === "postgres" ? "bytea" : "blob", required),
  );
  yield* query(({ db }) => db.schema.createIndex("ix_blob_put_at").on("blob").columns(["put_at", "id"]));
  yield* query(({ db }) =>
    db.schema
      .createTable("blob_use")
      .addColumn("workspace_id", "text", toWorkspace)
      .addColumn("thread_id", "text", required)
      .addColumn("blob_id", "bigint", required)
      .addPrimaryKeyConstraint("pk_blob_use", ["workspace_id", "thread_id", "blob_id"]),
  );
  yield* query(({ db }) => db.schema.createIndex("ix_blob_use_blob").on("blob_use").column("blob_id"));
}

function* createJournal(): Unit<void> {
  yield* query(({ db }) =>
    db.schema
      .createTable("journal_event")
      .addColumn("workspace_id", "text", toWorkspace)
      .addColumn("thread_id", "text", required)
      .addColumn("seq", "bigint", required)
      .addColumn("body", "text", required)
      .addColumn("hash", "text", required)
      .addPrimaryKeyConstraint("pk_journal_event", ["workspace_id", "thread_id", "seq"]),
  );
}

function* createRuns(): Unit<void> {
  yield* query(({ db }) =>
    db.schema
      .createTable("run")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("workspace_id", "text", toWorkspace)
      .addColumn("thread_id", "text", required)
      .addColumn("number", "integer", required)
      .addColumn("status", "text", required)
      .addColumn("steps", "integer", required)
      .addColumn("agent_id", "text", required)
      .addColumn("model", "text")
      .addColumn("parent_run_id", "text")
      .addColumn("error", "text")
      .addColumn("usage", "text")
      .addColumn("content", "text")
      .addColumn("user_message_id", "text", required)
      .addColumn("agent_message_id", "text", required)
      .addColumn("idempotency_key", "text")
      .addColumn("first_seq", "bigint", required)
      .addColumn("last_seq", "bigint")
      .addColumn("created_at", "bigint", required)
      .addColumn("updated_at", "bigint", required)
      .addColumn("started_at", "bigint")
      .addColumn("ended_at", "bigint")
      .addUniqueConstraint("uq_run_number", ["workspace_id", "thread_id", "number"]),
  );
  for (const order of ["updated_at", "created_at"]) {
    yield* query(({ db }) =>
      db.schema.createIndex(`ix_run_${order}`).on("run").columns(["workspace_id", order, "id"]),
    );
  }
  // One at a time per thread, whatever a program believes.
  yield* query(({ db }) =>
    db.schema
      .createIndex("uq_run_active")
      .unique()
      .on("run")
      .columns(["workspace_id", "thread_id"])
      .where(sql<boolean>`status in ('running', 'waiting')`),
  );
  yield* query(({ db }) =>
    db.schema
      .createIndex("ix_run_queued")
      .on("run")
      .columns(["workspace_id", "thread_id", "number"])
      .where(sql<boolean>`status = 'queued'`),
  );
  yield* query(({ db }) =>
    db.schema
      .createIndex("uq_run_idempotency")
      .unique()
      .on("run")
      .columns(["workspace_id", "thread_id", "idempotency_key"])
      .where(sql<boolean>`idempotency_key is not null`),
  );
}

function* createHistory(): Unit<void> {
  for (const name of ["history_epoch", "history_from", "history_to"]) {
    yield* query(({ db }) => db.schema.alterTable("thread").addColumn(name, "bigint"));
  }
  yield* query(({ db }) =>
    db.schema
      .createTable("history")
      .addColumn("workspace_id", "text", toWorkspace)
      .addColumn("thread_id", "text", required)
      .addColumn("epoch", "integer", required)
      .addColumn("pos", "integer", required)
      .addColumn("blob_id", "bigint", required)
      .addColumn("list_hash", "text", required)
      .addColumn("role", "text", required)
      .addColumn("chars", "bigint", required)
      .addColumn("tokens", "bigint", required)
      .addColumn("message_id", "text", required)
      .addPrimaryKeyConstraint("pk_history", ["workspace_id", "thread_id", "epoch", "pos"]),
  );
  yield* query(({ db }) => db.schema.createIndex("ix_history_blob").on("history").column("blob_id"));
}

function* createPromptPacks(): Unit<void> {
  yield* query(({ db }) =>
    db.schema
      .createTable("prompt_pack")
      .addColumn("workspace_id", "text", toWorkspace)
      .addColumn("pack", "text", required)
      .addColumn("state", "text", required)
      .addColumn("updated_at", "bigint", required)
      .addPrimaryKeyConstraint("pk_prompt_pack", ["workspace_id", "pack"]),
  );
  yield* query(({ db }) =>
    db.schema
      .createTable("tool_sync")
      .addColumn("workspace_id", "text", (column) =>
        column.primaryKey().references("workspace.id").onDelete("cascade"),
      )
      .addColumn("ref", "text", required)
      .addColumn("tools", "integer", required)
      .addColumn("synced_at", "bigint", required),
  );
}
