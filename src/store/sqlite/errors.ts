import { accessSync, constants, statSync } from "node:fs";
import { dirname } from "node:path";
import { sqliteErrorCode } from "../../base/index.js";
import { storeCondition } from "../errors.js";

type Condition = Parameters<typeof storeCondition>[0];

const conditions: Record<number, Condition> = {
  3: "read_only",
  5: "busy",
  6: "busy",
  8: "read_only",
  10: "unavailable",
  11: "corrupt",
  13: "full",
  14: "unavailable",
  26: "corrupt",
};

export const SQLITE_BUSY = 5;
const SQLITE_CANTOPEN = 14;

export function sqliteFailure(error: unknown, store: string): unknown {
  const code = sqliteErrorCode(error);
  const forbidden = code === SQLITE_CANTOPEN && !mayWrite(store);
  return storeCondition(forbidden ? "read_only" : conditions[code ?? 0], store, error);
}

const flushConditions: Record<string, Condition> = {
  ENOSPC: "full",
  EDQUOT: "full",
  EFBIG: "full",
  EROFS: "read_only",
};

/** The disk did not take what was committed. */
export function flushFailure(error: unknown, store: string): unknown {
  const { code = "" } = error as NodeJS.ErrnoException;
  return storeCondition(flushConditions[code] ?? "unavailable", store, error);
}

/** SQLite has one code for a path that is wrong and one that may not be used; only the latter is about permissions. */
function mayWrite(path: string): boolean {
  try {
    accessSync(dirname(path), constants.W_OK);
    if (statSync(path, { throwIfNoEntry: false })) accessSync(path, constants.R_OK | constants.W_OK);
    return true;
  } catch (error) {
    return !["EACCES", "EPERM", "EROFS"].includes((error as NodeJS.ErrnoException).code ?? "");
  }
}
