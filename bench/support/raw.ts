import type { SqliteDriver, SqliteHandle } from "../../src/base/index.js";
import { built } from "./built.js";

/** What the wire shows of a thread `t` and its placement `p`, and nothing else. */
export const THREAD_COLUMNS = `t.id, t.workspace_id, t.title, t.agent_id, t.status, t.pinned_at, t.last_snippet,
  t.message_count, t.worktree_path, t.worktree_branch, t.parent_thread_id, t.attributes, t.config, t.setup, t.read_only,
  t.created_at, t.updated_at, p.folder_id, p.rank`;

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
