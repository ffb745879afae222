import { type ColumnDefinitionBuilder, sql } from "kysely";
import { query, type Sql, type Unit } from "../unit.js";
import type { Migration } from "./migration.js";

/** Threads get files: what the index knows of them, the words of their messages, and which of their hooks are trusted. */
export const threadFiles: Migration = { version: 2, up };

const required = (column: ColumnDefinitionBuilder) => column.notNull();

function* up(): Unit<void> {
  yield* addFileColumns();
  yield* createTrust();
  yield* createMessages();
  yield* createWordIndex();
}

const fileColumns = {
  file_root: "text",
  file_folder: "text",
  read_only: "text",
  own_stamp: "text",
  envelope_stamp: "text",
  log_stamp: "text",
  log_size: "bigint",
  log_tail: "text",
  words_to: "bigint",
  setup: "text",
  named: "integer",
} as const;

function* addFileColumns(): Unit<void> {
  for (const [name, type] of Object.entries(fileColumns))
    yield* query(({ db }) => db.schema.alterTable("thread").addColumn(name, type));
  yield* query(({ db }) =>
    db.schema
      .createIndex("ix_thread_setup")
      .on("thread")
      .columns(["workspace_id", "id"])
      .where(sql<boolean>`setup is not null`),
  );
}

function* createTrust(): Unit<void> {
  yield* query(({ db }) =>
    db.schema
      .createTable("trust")
      .addColumn("workspace_id", "text", (column) =>
        column.notNull().references("workspace.id").onDelete("cascade"),
      )
      .addColumn("kind", "text", required)
      .addColumn("content_sha256", "text", required)
      .addColumn("trusted_at", "bigint", required)
      .addPrimaryKeyConstraint("pk_trust", ["workspace_id", "kind", "content_sha256"]),
  );
}

function* createMessages(): Unit<void> {
  yield* query(({ db, dialect }) => {
    const table = db.schema
      .createTable("message")
      .addColumn("id", dialect === "postgres" ? "bigserial" : "integer", (column) => column.primaryKey())
      .addColumn("workspace_id", "text", required)
      .addColumn("thread_id", "text", required)
      .addColumn("message_id", "text", required)
      .addColumn("line_offset", "bigint", required)
      .addColumn("at", "bigint", required)
      .addColumn("role", "text", required)
      .addUniqueConstraint("uq_message", ["workspace_id", "thread_id", "message_id"])
      .addForeignKeyConstraint(
        "fk_message_thread",
        ["workspace_id", "thread_id"],
        "thread",
        ["workspace_id", "id"],
        (constraint) => constraint.onDelete("cascade"),
      );
    return dialect === "postgres" ? table.addColumn("words", sql`tsvector`, required) : table;
  });
}

/**
 * The words are made before they come here, so neither database may change them: `ascii` splits at nothing that is in
 * a word, and the PostgreSQL column has no text-search configuration. Nothing asks where in a message a word stands.
 */
function* createWordIndex(): Unit<void> {
  yield* on(
    "sqlite",
    `create virtual table message_words using fts5(
      words, content = '', contentless_delete = 1, tokenize = 'ascii', detail = 'none', prefix = '2 3'
    )`,
  );
  // No foreign key reaches a virtual table: without this, the words of a purged message would be those of the next one
  // with its id.
  yield* on(
    "sqlite",
    `create trigger tr_message_removed after delete on message begin
      delete from message_words where rowid = old.id;
    end`,
  );
  yield* on("postgres", "create index ix_message_words on message using gin (words)");
}

/** A statement for one of the databases; the other has nothing to do. */
function* on(dialect: Sql["dialect"], statement: string): Unit<void> {
  yield* query((s) => ({
    compile: () => sql.raw(s.dialect === dialect ? statement : "select 1").compile(s.db),
  }));
}
