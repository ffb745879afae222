import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import { storeError } from "../errors.js";
import { migrate } from "../migrations/index.js";
import type { Tables } from "../schema.js";
import type { Commit, Store } from "../store.js";
import type { Note, Sql } from "../unit.js";
import { SqliteConnection } from "./driver.js";
import { sqliteFailure } from "./errors.js";
import { GroupCommit, runUnit } from "./group-commit.js";

/** "hdl1" in ASCII: tells a Heddle store from any other SQLite file. */
const APPLICATION_ID = 0x68646c31;

/** Opens the embedded store at a path, making or migrating it. The caller holds the data directory's lock. */
export async function openSqlite(path: string): Promise<Store> {
  const sql: Sql = { db: queryBuilder(), dialect: "sqlite" };
  let connection: SqliteConnection | undefined;
  try {
    connection = new SqliteConnection(path);
    configure(connection, path);
    const store = sqliteStore(connection, sql, path);
    await migrate(store);
    return store;
  } catch (error) {
    connection?.close();
    throw sqliteFailure(error, path);
  }
}

function queryBuilder(): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
}

function configure(connection: SqliteConnection, path: string): void {
  // Short, because the driver is synchronous: longer waits are made between attempts (see GroupCommit).
  connection.exec("pragma busy_timeout = 100");
  const [application] = connection.all("pragma application_id") as { application_id: number }[];
  const [tables] = connection.all("select count(*) as n from sqlite_master") as { n: number }[];
  if (application?.application_id !== APPLICATION_ID) {
    if ((tables?.n ?? 0) > 0) {
      throw storeError(
        { kind: "store.not_heddle", store: path },
        `${path} is a database of another program. Choose another data directory with --data.`,
      );
    }
    connection.exec(`pragma application_id = ${APPLICATION_ID}`);
  }
  connection.exec("pragma journal_mode = wal");
  connection.exec("pragma synchronous = full");
  connection.exec("pragma foreign_keys = on");
  connection.exec("pragma temp_store = memory");
}

function sqliteStore(connection: SqliteConnection, sql: Sql, path: string): Store {
  const listeners = new Set<(commit: Commit) => void>();
  const commits = new GroupCommit(connection, sql, path, (commit) => {
    for (const listener of listeners) listener(commit);
  });
  const noNotes: Note[] = [];
  return {
    kind: "sqlite",
    name: path,
    async read(unit) {
      // A batch is written without a pause, so a read on the same connection never sees half of one.
      try {
        return runUnit(connection, sql, unit(), noNotes);
      } catch (error) {
        throw sqliteFailure(error, path);
      }
    },
    write: ({ origin }, unit) => commits.write(unit, origin),
    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async check() {
      try {
        connection.all("select version from schema_version limit 1");
      } catch (error) {
        throw sqliteFailure(error, path);
      }
    },
    async close() {
      await commits.idle();
      connection.close();
    },
  };
}
