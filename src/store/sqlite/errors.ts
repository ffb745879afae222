import { sqliteErrorCode } from "../../base/index.js";
import { storeCondition } from "../errors.js";

const conditions: Record<number, Parameters<typeof storeCondition>[0]> = {
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

export function sqliteFailure(error: unknown, store: string): unknown {
  return storeCondition(conditions[sqliteErrorCode(error) ?? 0], store, error);
}
