import type { SqliteDriver, SqliteHandle } from "../../src/base/index.js";
import { built } from "./built.js";

export type RawStatement = (...values: (string | number | null)[]) => unknown[];

/** The store's own driver without anything of Heddle's around it: what the baselines are made of. */
export class RawSqlite {
  readonly #handle: SqliteHandle;
  readonly #driver: SqliteDriver["name"];

  static async open(path: string): Promise<RawSqlite> {
    return new RawSqlite((await built()).base.sqliteDriver(), path);
  }

  private constructor(driver: SqliteDriver, path: string) {
    this.#handle = driver.open(path);
    this.#driver = driver.name;
    for (const pragma of ["journal_mode = wal", "synchronous = full", "foreign_keys = on"])
      this.#handle.exec(`pragma ${pragma}`);
  }

  exec(sql: string): void {
    this.#handle.exec(sql);
  }

  prepare(sql: string): RawStatement {
    const statement = this.#handle.prepare(sql);
    return this.#driver === "libsql"
      ? (...values) => statement.all(values)
      : (...values) => statement.all(...values);
  }

  close(): void {
    this.#handle.close();
  }
}
