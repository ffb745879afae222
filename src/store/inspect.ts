import type { Inspection } from "./inspection.js";
import { inspectSqlite } from "./sqlite/inspect.js";

/** Looks at a store that exists: the path of a SQLite file whose data directory the caller has locked, or an address. */
export async function inspectStore(location: string): Promise<Inspection> {
  if (!/^postgres(ql)?:\/\//.test(location)) return inspectSqlite(location);
  const { inspectPostgres } = await import("./postgres/inspect.js");
  return inspectPostgres(location);
}
