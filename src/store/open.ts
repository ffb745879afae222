import { openSqlite } from "./sqlite/open.js";
import type { Store } from "./store.js";

/** A path of a SQLite file, or a `postgres://` address. */
export async function openStore(location: string): Promise<Store> {
  if (!/^postgres(ql)?:\/\//.test(location)) return openSqlite(location);
  // Loaded only when asked for: the driver costs start-up time.
  const { openPostgres } = await import("./postgres/open.js");
  return openPostgres(location);
}
