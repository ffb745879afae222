import { storeError } from "../errors.js";
import type { Store } from "../store.js";
import { first, query, type Unit } from "../unit.js";
import { groundFloor } from "./0001-ground-floor.js";
import { threadFiles } from "./0002-thread-files.js";
import { runs } from "./0003-runs.js";
import { agents } from "./0004-agents.js";
import { artifacts } from "./0005-artifacts.js";
import { programs } from "./0006-programs.js";
import { decisions } from "./0007-decisions.js";
import { manyThreads } from "./0008-many-threads.js";
import { steering } from "./0009-steering.js";
import type { Migration } from "./migration.js";

const migrations: readonly Migration[] = [
  groundFloor,
  threadFiles,
  runs,
  agents,
  artifacts,
  programs,
  decisions,
  manyThreads,
  steering,
];

/** The schema this program reads and writes. */
export const SCHEMA_VERSION = migrations.at(-1)?.version ?? 0;

/** Brings the store to this program's schema. A store written by a newer program is left untouched. */
export async function migrate(store: Store, known: readonly Migration[] = migrations): Promise<void> {
  const latest = known.at(-1)?.version ?? 0;
  const found = await store.write({ key: "" }, () => schemaVersion());
  if (found > latest) {
    throw storeError(
      { kind: "store.newer_schema", found, known: latest },
      `The store ${store.name} was written by a newer Heddle (schema ${found}; this one knows ${latest}). Update Heddle, or choose another data directory with --data.`,
    );
  }
  for (const migration of known.filter(({ version }) => version > found)) {
    await store.write({ key: "" }, () => apply(migration));
  }
}

function* schemaVersion(): Unit<number> {
  yield* query(({ db }) =>
    db.schema
      .createTable("schema_version")
      .ifNotExists()
      .addColumn("version", "integer", (column) => column.primaryKey())
      .addColumn("applied_at", "bigint", (column) => column.notNull()),
  );
  const row = yield* first(({ db }) =>
    db.selectFrom("schema_version").select("version").orderBy("version", "desc").limit(1),
  );
  return row?.version ?? 0;
}

function* apply({ version, up }: Migration): Unit<void> {
  yield* up();
  const applied_at = Math.floor(Date.now() / 1000);
  yield* query(({ db }) => db.insertInto("schema_version").values({ version, applied_at }));
}
