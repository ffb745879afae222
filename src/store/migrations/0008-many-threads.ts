import { type ColumnDefinitionBuilder, sql } from "kysely";
import { query, type Sql, type Unit } from "../unit.js";
import type { Migration } from "./migration.js";

/** What would be looked for among all threads of a workspace, where there are very many. */
export const manyThreads: Migration = { version: 8, up };

const required = (column: ColumnDefinitionBuilder) => column.notNull();

function* up(): Unit<void> {
  yield* createIndexes();
  yield* createTitles();
  yield* indexTitles();
}

function* createIndexes(): Unit<void> {
  yield* query(({ db }) =>
    db.schema
      .createIndex("ix_thread_agent_created")
      .on("thread")
      .columns(["workspace_id", "agent_id", "created_at", "id"])
      .where(sql<boolean>`deleted_at is null`),
  );
  yield* query(({ db }) =>
    db.schema
      .createIndex("ix_thread_pinned")
      .on("thread")
      .columns(["workspace_id", "id"])
      .where(sql<boolean>`pinned_at is not null and deleted_at is null`),
  );
}

function* createTitles(): Unit<void> {
  yield* query(({ db, dialect }) => {
    const table = db.schema
      .createTable("thread_title")
      .addColumn("id", dialect === "postgres" ? "bigserial" : "integer", (column) => column.primaryKey())
      .addColumn("workspace_id", "text", required)
      .addColumn("thread_id", "text", required)
      .addUniqueConstraint("uq_thread_title", ["workspace_id", "thread_id"])
      .addForeignKeyConstraint(
        "fk_thread_title_thread",
        ["workspace_id", "thread_id"],
        "thread",
        ["workspace_id", "id"],
        (constraint) => constraint.onDelete("cascade"),
      );
    return dialect === "postgres" ? table.addColumn("grams", sql`text[]`, required) : table;
  });
  yield* on("postgres", "create index ix_thread_title_grams on thread_title using gin (grams)");
  yield* on(
    "sqlite",
    `create virtual table thread_title_grams using fts5(
      title, content = '', contentless_delete = 1, tokenize = 'trigram case_sensitive 1', detail = 'none'
    )`,
  );
  // No foreign key reaches a virtual table: without this, a thread would be found by the title of one that is gone.
  yield* on(
    "sqlite",
    `create trigger tr_thread_title_removed after delete on thread_title begin
      delete from thread_title_grams where rowid = old.id;
    end`,
  );
}

/** Those of the threads that are there already. */
function* indexTitles(): Unit<void> {
  yield* on(
    "sqlite",
    "insert into thread_title (workspace_id, thread_id) select workspace_id, id from thread",
  );
  yield* on(
    "sqlite",
    `insert into thread_title_grams (rowid, title) select n.id, t.title_search
      from thread_title n join thread t on t.workspace_id = n.workspace_id and t.id = n.thread_id`,
  );
  yield* on(
    "postgres",
    `insert into thread_title (workspace_id, thread_id, grams) select workspace_id, id,
      array(select distinct substr(title_search, i, 3) from generate_series(1, char_length(title_search) - 2) as i)
      from thread`,
  );
}

/** A statement for one of the databases; the other has nothing to do. */
function* on(dialect: Sql["dialect"], statement: string): Unit<void> {
  yield* query((s) => ({
    compile: () => sql.raw(s.dialect === dialect ? statement : "select 1").compile(s.db),
  }));
}
