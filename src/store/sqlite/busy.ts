import { sqliteErrorCode } from "../../base/index.js";
import { SQLITE_BUSY } from "./errors.js";

const RETRY_MS = 20;
const LIMIT_MS = 5_000;

/**
 * Tries again while another program holds the database. The pauses are made here and not in the driver, which is
 * synchronous: everything else must go on meanwhile. The limit counts from when the work was asked for.
 */
export async function whenFree<T>(attempt: () => T, since = performance.now()): Promise<T> {
  const deadline = since + LIMIT_MS;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (sqliteErrorCode(error) !== SQLITE_BUSY || performance.now() > deadline) throw error;
    }
    await new Promise((next) => setTimeout(next, RETRY_MS));
  }
}
