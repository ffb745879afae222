import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

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
  /** A database that must not be written to, not even by what opening one does to it. */
  openReadOnly(path: string): SqliteHandle;
}

interface NodeSqlite {
  DatabaseSync: new (path: string, options?: { readonly readOnly?: boolean }) => SqliteHandle;
}

let driver: SqliteDriver | undefined;

/** `node:sqlite` where this Node has it without a flag (22.13 and later), else the prebuilt `libsql`. */
export function sqliteDriver(): SqliteDriver {
  driver ??= builtinDriver() ?? libsqlDriver();
  return driver;
}

function builtinDriver(): SqliteDriver | undefined {
  const warn = process.emitWarning;
  // Node 22 calls its SQLite experimental on standard error, at every start. Only that one warning is kept back.
  process.emitWarning = ((warning: string | Error, ...rest: []) => {
    if (!String(warning).startsWith("SQLite is an experimental feature"))
      warn.call(process, warning, ...rest);
  }) as typeof process.emitWarning;
  try {
    const builtin = process.getBuiltinModule?.("node:sqlite") as unknown as NodeSqlite | undefined;
    if (!builtin) return undefined;
    return {
      name: "node:sqlite",
      open: (path) => new builtin.DatabaseSync(path),
      openReadOnly: (path) => new builtin.DatabaseSync(path, { readOnly: true }),
    };
  } finally {
    process.emitWarning = warn;
  }
}

function libsqlDriver(): SqliteDriver {
  const Libsql = createRequire(import.meta.url)("libsql") as new (path: string) => SqliteHandle;
  const open = (path: string) => {
    try {
      return new Libsql(path);
    } catch (error) {
      throw withCode(error);
    }
  };
  // Its own option of that name does not hold: only the address does.
  return { name: "libsql", open, openReadOnly: (path) => open(`${pathToFileURL(path).href}?mode=ro`) };
}

/** libsql tells why a file can't be opened only at the end of its message. */
function withCode(error: unknown): unknown {
  const [, code] = /: (\d+)"\)$/.exec(error instanceof Error ? error.message : "") ?? [];
  return code === undefined ? error : Object.assign(error as Error, { errcode: Number(code) });
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

/** A lock that the kernel frees when its process dies, however it dies. */
export interface KernelLock {
  /** False: another process, or another handle of this one, has it. */
  tryTake(): boolean;
  release(): void;
  /** Releases it and lets go of the file. */
  close(): void;
}

/**
 * Opens a lock file. Never read it with `fs` in the process that holds the lock: closing that descriptor would drop it.
 */
export function openLock(path: string): KernelLock {
  const handle = sqliteDriver().open(path);
  handle.exec("pragma busy_timeout = 0");
  let quiet = false;
  return {
    tryTake() {
      if (held.has(handle)) return false;
      try {
        // Nothing is ever written: a journal beside the lock would be made and removed each time it is taken.
        if (!quiet) handle.exec("pragma journal_mode = memory");
        quiet = true;
        handle.exec("begin exclusive");
      } catch (error) {
        if (sqliteErrorCode(error) === SQLITE_BUSY) return false;
        throw error;
      }
      held.add(handle);
      return true;
    },
    release() {
      if (held.delete(handle)) handle.exec("rollback");
    },
    close() {
      held.delete(handle);
      handle.close();
    },
  };
}

export type HeldLock = Pick<KernelLock, "release">;

/** Takes a lock for as long as the process needs it; undefined when another process has it. */
export function takeLock(path: string): HeldLock | undefined {
  const lock = openLock(path);
  try {
    if (lock.tryTake()) return { release: once(() => lock.close()) };
  } catch (error) {
    lock.close();
    throw error;
  }
  lock.close();
  return undefined;
}

function once(work: () => void): () => void {
  let done = false;
  return () => {
    if (!done) work();
    done = true;
  };
}
