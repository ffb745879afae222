import { query, type Unit } from "../unit.js";
import type { Migration } from "./migration.js";

/** What people said to a run that it has not been told yet: whoever comes later sees it waiting, too. */
export const steering: Migration = { version: 9, up };

function* up(): Unit<void> {
  yield* query(({ db }) => db.schema.alterTable("run").addColumn("steering", "text"));
}
