import { query, type Unit } from "../unit.js";
import type { Migration } from "./migration.js";

/** Agents that are programs, and agents elsewhere: the session that a thread goes on with, the secret that answers come with. */
export const programs: Migration = { version: 6, up };

function* up(): Unit<void> {
  for (const name of ["program_session", "callback_secret"]) {
    yield* query(({ db }) => db.schema.alterTable("thread").addColumn(name, "text"));
  }
}
