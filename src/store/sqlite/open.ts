import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import { storeClosed, storeError } from "../errors.js";
import { CommitListeners } from "../listeners.js";
import { migrate } from "../migrations/index.js";
import type { Tables } from "../schema.js";
import type { Store } from "../store.js";
import { checkUnit, type Sql, type Unit } from "../unit.js";
import { whenFree } from "./busy.js";
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
    const opened = new SqliteConnection(path);
    connection = opened;
    await whenFree(() => configure(opened, path));
    const store = sqliteStore(opened, sql, path);
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
  // The driver is synchronous: it never waits, `whenFree` does.
  connection.exec("pragma busy_timeout = 0");
  const [application] = connection.all("pragma application_id") as { application_id: number }[];
  const [tables] = connection.all("select count(*) as n from sqlite_master") as { n: number }[];
  if (application?.application_id !== APPLICATION_ID) {
    if (application?.application_id !== 0 || tables?.n !== 0) {
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
  const listeners = new CommitListeners();
  const commits = new GroupCommit(connection, sql, path, (commit) => listeners.tell(commit));
  let closing: Promise<void> | undefined;

  // A batch is written without a pause, so a read on the same connection never sees half of one.
  async function read<T>(unit: () => Unit<T>): Promise<T> {
    try {
      return await whenFree(() => {
        if (closing) throw storeClosed(path);
        return runUnit(connection, sql, unit(), []);
      });
    } catch (error) {
      throw sqliteFailure(error, path);
    }
  }

  return {
    kind: "sqlite",
    name: path,
    read,
    async write({ origin }, unit) {
      if (closing) throw storeClosed(path);
      return commits.write(unit, origin);
    },
    onCommit: (listener) => listeners.add(listener),
    check: () => read(checkUnit),
    close() {
      closing ??= commits.idle().then(() => connection.close());
      return closing;
    },
  };
}
