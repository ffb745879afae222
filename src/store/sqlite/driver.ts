import type { CompiledQuery } from "kysely";
import { Lru, type SqliteHandle, type SqliteStatement, sqliteDriver } from "../../base/index.js";

const CACHED_STATEMENTS = 256;

/** One connection with its prepared statements. */
export class SqliteConnection {
  readonly #handle: SqliteHandle;
  readonly #statements = new Lru<string, SqliteStatement>(CACHED_STATEMENTS);
  readonly #bind: (values: readonly unknown[]) => unknown[];
  /** Something may have been written since this was last set to false. */
  wrote = false;

  constructor(path: string) {
    const driver = sqliteDriver();
    this.#handle = driver.open(path);
    // libsql aborts the process when a lone Buffer is spread into its arguments: it always gets one array.
    this.#bind = driver.name === "libsql" ? (values) => [values] : (values) => [...values];
  }

  exec(sql: string): void {
    this.#handle.exec(sql);
  }

  execute(query: CompiledQuery): unknown[] {
    return this.all(query.sql, query.parameters);
  }

  all(sql: string, parameters: readonly unknown[] = []): unknown[] {
    let statement = this.#statements.get(sql);
    if (!statement) {
      statement = this.#handle.prepare(sql);
      this.#statements.set(sql, statement);
    }
    for (const value of parameters) assertBindable(value);
    if (!sql.startsWith("select ")) this.wrote = true;
    return statement.all(...this.#bind(parameters));
  }

  close(): void {
    this.#statements.clear();
    this.#handle.close();
  }
}

/** libsql aborts the whole process on other types (a boolean, say), so they are stopped here. */
function assertBindable(value: unknown): void {
  const type = typeof value;
  if (value === null || type === "string" || type === "bigint" || value instanceof Uint8Array) return;
  if (type === "number" && Number.isFinite(value)) return;
  throw new TypeError(`a ${type} can't be bound to a SQLite statement`);
}
