import { type ColumnDefinitionBuilder, sql } from "kysely";
import { query, type Unit } from "../unit.js";
import type { Migration } from "./migration.js";

/** Agents that work together: who asked whom, what waits for an answer, what somebody allowed for good. */
export const agents: Migration = { version: 4, up };

const required = (column: ColumnDefinitionBuilder) => column.notNull();

function* up(): Unit<void> {
  yield* query(({ db }) => db.schema.alterTable("thread").addColumn("granted_tools", "text"));
  for (const name of ["origin", "approvals"]) {
    yield* query(({ db }) => db.schema.alterTable("run").addColumn(name, "text"));
  }
  yield* query(({ db }) =>
    db.schema
      .createIndex("ix_run_parent")
      .on("run")
      .column("parent_run_id")
      .where(sql<boolean>`parent_run_id is not null`),
  );
  yield* createDelegations();
}

/** Like runs they have no foreign key to their threads. */
function* createDelegations(): Unit<void> {
  yield* query(({ db }) =>
    db.schema
      .createTable("delegation")
      .addColumn("id", "text", (column) => column.primaryKey())
      .addColumn("workspace_id", "text", (column) =>
        column.notNull().references("workspace.id").onDelete("cascade"),
      )
      .addColumn("caller_thread_id", "text", required)
      .addColumn("caller_run_id", "text")
      .addColumn("thread_id", "text", required)
      .addColumn("run_id", "text", (column) => column.notNull().unique())
      .addColumn("mode", "text", required)
      .addColumn("thread_created", "integer", required)
      .addColumn("asked", "text", required)
      .addColumn("created_at", "bigint", required)
      .addColumn("returned_at", "bigint"),
  );
  // What is still to come back: few at any time, and looked for whenever a gateway starts.
  yield* query(({ db }) =>
    db.schema
      .createIndex("ix_delegation_open")
      .on("delegation")
      .column("run_id")
      .where(sql<boolean>`returned_at is null and mode = 'async'`),
  );
}
