import { sqliteDriver } from "../../base/index.js";
import { storeError } from "../errors.js";
import type { Inspection } from "../inspection.js";
import { SqliteConnection } from "./driver.js";
import { sqliteFailure } from "./errors.js";
import { APPLICATION_ID } from "./open.js";

const MAX_PROBLEMS = 10;

export function inspectSqlite(path: string): Inspection {
  let connection: SqliteConnection | undefined;
  try {
    connection = new SqliteConnection(path);
    const application = value(connection, "pragma application_id");
    if (application !== APPLICATION_ID) {
      throw storeError(
        { kind: "store.not_heddle", store: path },
        `${path} is a database of another program.`,
      );
    }
    const found = connection.all(`pragma quick_check(${MAX_PROBLEMS})`) as Record<string, string>[];
    const problems = found.flatMap((row) => Object.values(row)).filter((text) => text !== "ok");
    const schema = Number(value(connection, "select max(version) as version from schema_version"));
    return { engine: sqliteEngine(), schema, problems };
  } catch (error) {
    throw sqliteFailure(error, path);
  } finally {
    connection?.close();
  }
}

/** Which SQLite this process uses. */
export function sqliteEngine(): string {
  const connection = new SqliteConnection(":memory:");
  const version = value(connection, "select sqlite_version() as version");
  connection.close();
  return `SQLite ${version} (${sqliteDriver().name})`;
}

function value(connection: SqliteConnection, sql: string): unknown {
  return Object.values((connection.all(sql)[0] ?? {}) as Record<string, unknown>)[0];
}
