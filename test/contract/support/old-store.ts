import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from "kysely";
import type { Migration } from "../../../src/store/migrations/migration.js";
import type { Tables } from "../../../src/store/schema.js";
import type { Sql } from "../../../src/store/unit.js";
import type { StoreKind } from "../../support/stores.js";
import { runSql } from "./stage.js";

/** "hdl1": without it a file would pass for another program's. */
const MARK = "pragma application_id = 1751411761";

/** Makes the database that an older Heddle would have left, which knew only these migrations. */
export async function writeOldStore(
  kind: StoreKind["name"],
  location: string,
  migrations: readonly Migration[],
): Promise<void> {
  const sql: Sql = { db: queryBuilder(kind), dialect: kind };
  if (kind === "sqlite") await runSql(location, MARK);
  await runSql(
    location,
    'create table "schema_version" ("version" integer primary key, "applied_at" bigint not null)',
  );
  for (const { version, up } of migrations) {
    const unit = up();
    for (let step = unit.next([]); !step.done; step = unit.next([]))
      if ("statement" in step.value) await runSql(location, step.value.statement(sql).sql);
    await runSql(location, `insert into schema_version (version, applied_at) values (${version}, 1)`);
  }
}

function queryBuilder(kind: StoreKind["name"]): Kysely<Tables> {
  const createDriver = () => new DummyDriver();
  return new Kysely<Tables>({
    dialect:
      kind === "sqlite"
        ? {
            createAdapter: () => new SqliteAdapter(),
            createDriver,
            createIntrospector: (db) => new SqliteIntrospector(db),
            createQueryCompiler: () => new SqliteQueryCompiler(),
          }
        : {
            createAdapter: () => new PostgresAdapter(),
            createDriver,
            createIntrospector: (db) => new PostgresIntrospector(db),
            createQueryCompiler: () => new PostgresQueryCompiler(),
          },
  });
}
