import { query, type Unit } from "../unit.js";
import type { Migration } from "./migration.js";

/** What somebody said to calls that waited, and when: a run tells it after it has ended, too. */
export const decisions: Migration = { version: 7, up };

function* up(): Unit<void> {
  yield* query(({ db }) => db.schema.alterTable("run").addColumn("decisions", "text"));
}
