import { rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { sqliteDriver } from "../../../src/base/index.js";
import { openStore, type Store } from "../../../src/store/index.js";
import type { BareStoreKind, StoreKind, StorePlace } from "../../support/stores.js";

/** Rows as a driver gives them. */
export type Row = Record<string, unknown>;

/** A store on its own, without a gateway, and a second way to look into it. */
export interface Stage {
  readonly kind: StoreKind["name"];
  readonly store: Store;
  /** What `openStore` takes. */
  readonly location: string;
  /** Runs a statement over a connection of its own, past the store. */
  sql(statement: string): Promise<Row[]>;
  /** Closes the store and opens it again over the same data. */
  reopen(): Promise<Stage>;
  end(): Promise<void>;
}

export async function openStage(kind: BareStoreKind): Promise<Stage> {
  return stageOn(kind, await kind.empty());
}

export function locationOf(kind: StoreKind, place: StorePlace): string {
  return kind.name === "sqlite" ? join(place.dataDir, "heddle.db") : place.store;
}

async function stageOn(kind: StoreKind, place: StorePlace): Promise<Stage> {
  const location = locationOf(kind, place);
  const store = await openStore(location);
  return {
    kind: kind.name,
    store,
    location,
    sql: (statement) => runSql(location, statement),
    async reopen() {
      await store.close();
      return stageOn(kind, place);
    },
    async end() {
      await store.close().catch(() => {});
      await place.remove();
      rmSync(place.dataDir, { recursive: true, force: true });
    },
  };
}

/** One statement on a store's database, as any other program would run it. */
export async function runSql(location: string, statement: string): Promise<Row[]> {
  if (location.startsWith("postgres")) return runPostgres(location, statement);
  const handle = sqliteDriver().open(location);
  try {
    handle.exec("pragma busy_timeout = 2000");
    return handle.prepare(statement).all() as Row[];
  } finally {
    handle.close();
  }
}

async function runPostgres(location: string, statement: string): Promise<Row[]> {
  const client = new pg.Client(location);
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}
