import { createRequire } from "node:module";

/** The little of a SQLite driver that Heddle uses; `node:sqlite` and `libsql` both fit. */
export interface SqliteHandle {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export interface SqliteStatement {
  all(...params: unknown[]): unknown[];
  run(...params: unknown[]): { changes: number | bigint };
}

export interface SqliteDriver {
  readonly name: "node:sqlite" | "libsql";
  open(path: string): SqliteHandle;
}

interface NodeSqlite {
  DatabaseSync: new (path: string) => SqliteHandle;
}

/** `node:sqlite` where this Node has it without a flag (22.13 and later), else the prebuilt `libsql`. */
export function sqliteDriver(): SqliteDriver {
  const builtin = process.getBuiltinModule?.("node:sqlite") as unknown as NodeSqlite | undefined;
  if (builtin) return { name: "node:sqlite", open: (path) => new builtin.DatabaseSync(path) };
  const Libsql = createRequire(import.meta.url)("libsql") as new (path: string) => SqliteHandle;
  return { name: "libsql", open: (path) => new Libsql(path) };
}

/** SQLite's result code of a failed call; its low byte is the primary code. */
export function sqliteErrorCode(error: unknown): number | undefined {
  const { errcode, rawCode } = (error ?? {}) as { errcode?: number; rawCode?: number };
  const code = errcode ?? rawCode;
  return typeof code === "number" ? code & 0xff : undefined;
}

const SQLITE_BUSY = 5;

/** A collected handle would release its lock, so every held one is reachable from here. */
const held = new Set<SqliteHandle>();

export interface KernelLock {
  release(): void;
}

/**
 * Takes a lock that the kernel frees when its process dies, however it dies. Answers undefined when another process has
 * it. Never read the lock file with `fs` in the process that holds it: closing that descriptor would drop the lock.
 */
export function takeLock(path: string): KernelLock | undefined {
  const handle = sqliteDriver().open(path);
  try {
    handle.exec("pragma busy_timeout = 0");
    handle.exec("begin exclusive");
  } catch (error) {
    handle.close();
    if (sqliteErrorCode(error) === SQLITE_BUSY) return undefined;
    throw error;
  }
  held.add(handle);
  return {
    release() {
      if (!held.delete(handle)) return;
      handle.close();
    },
  };
}
