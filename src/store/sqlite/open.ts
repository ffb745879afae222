import { closeSync, openSync, readSync } from "node:fs";
import { DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import { storeClosed, storeCondition, storeError } from "../errors.js";
import { CommitListeners } from "../listeners.js";
import { migrate } from "../migrations/index.js";
import type { Tables } from "../schema.js";
import type { Commit, Store } from "../store.js";
import { checkUnit, type Sql, type Unit } from "../unit.js";
import { whenFree } from "./busy.js";
import { SqliteConnection } from "./driver.js";
import { sqliteFailure } from "./errors.js";
import { GroupCommit, runUnit } from "./group-commit.js";
import { LogFlush } from "./log-flush.js";

/** "hdl1" in ASCII: tells a Heddle store from any other SQLite file. */
export const APPLICATION_ID = 0x68646c31;
const APPLICATION_ID_AT = 68;
const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";

/** Opens the embedded store at a path, making or migrating it. The caller holds the data directory's lock. */
export async function openSqlite(path: string): Promise<Store> {
  const sql: Sql = { db: queryBuilder(), dialect: "sqlite" };
  let connection: SqliteConnection | undefined;
  try {
    assertOurs(path);
    const opened = new SqliteConnection(path);
    connection = opened;
    await whenFree(() => configure(opened));
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

/** Looks at the header by itself: to open a database, SQLite may already have to change it or the files beside it. */
function assertOurs(path: string): void {
  const header = readHeader(path);
  if (header.length === 0) return;
  // SQLite would take what is left of a store for a new one.
  if (header.length < HEADER_BYTES) throw storeCondition("corrupt", path, undefined);
  if (header.toString("latin1", 0, MAGIC.length) !== MAGIC) return;
  if (header.readUInt32BE(APPLICATION_ID_AT) === APPLICATION_ID) return;
  throw storeError(
    { kind: "store.not_heddle", store: path },
    `${path} is a database of another program. Choose another data directory with --data.`,
  );
}

/** The first bytes of a file; none of one that is not there or can't be read. */
function readHeader(path: string): Buffer {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const bytes = Buffer.alloc(HEADER_BYTES);
    return bytes.subarray(0, readSync(file, bytes));
  } catch {
    return Buffer.alloc(0);
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

function configure(connection: SqliteConnection): void {
  // The driver is synchronous: it never waits, `whenFree` does.
  connection.exec("pragma busy_timeout = 0");
  const [application] = connection.all("pragma application_id") as { application_id: number }[];
  if (application?.application_id === 0) connection.exec(`pragma application_id = ${APPLICATION_ID}`);
  connection.exec("pragma journal_mode = wal");
  // Until `LogFlush` takes it over.
  connection.exec("pragma synchronous = full");
  connection.exec("pragma foreign_keys = on");
  connection.exec("pragma temp_store = memory");
  // Moving the log into the database file is paid by whoever commits just then: less often, and more at once.
  connection.exec("pragma wal_autocheckpoint = 4000");
}

function sqliteStore(connection: SqliteConnection, sql: Sql, path: string): Store {
  const listeners = new CommitListeners();
  const flush = new LogFlush(connection, path);
  const committed = (commit: Commit) => listeners.tell(commit);
  const commits = new GroupCommit({ connection, sql, name: path, flush, committed });
  let closing: Promise<void> | undefined;

  // A batch is written without a pause, so a read on the same connection never sees half of one.
  async function readAhead<T>(unit: () => Unit<T>): Promise<T> {
    try {
      return await whenFree(() => {
        if (closing) throw storeClosed(path);
        return runUnit(connection, sql, unit(), []);
      });
    } catch (error) {
      throw sqliteFailure(error, path);
    }
  }

  async function read<T>(unit: () => Unit<T>): Promise<T> {
    const found = await readAhead(unit);
    // What a power cut could still take back is not shown; whoever wrote it hears that it was not flushed.
    await flush.pending()?.catch(() => {});
    return found;
  }

  return {
    kind: "sqlite",
    name: path,
    read,
    readAhead,
    async write(options, unit) {
      if (closing) throw storeClosed(path);
      return commits.write(unit, options);
    },
    onCommit: (listener) => listeners.add(listener),
    // The kernel's lock on the data directory is never lost.
    exclusive: () => true,
    onForget: () => () => {},
    check: () => read(checkUnit),
    close() {
      closing ??= commits.idle().then(() => {
        foldIn(connection);
        flush.close();
        connection.close();
      });
      return closing;
    },
  };
}

/**
 * Moves the log into the database file, so that a closed store is that one file. libsql would leave it for later: it
 * keeps a closed database open until its statements are collected.
 */
function foldIn(connection: SqliteConnection): void {
  try {
    connection.exec("pragma wal_checkpoint(truncate)");
  } catch {
    // The log is as durable as the file; the next start reads it.
  }
}
