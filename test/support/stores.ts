import { randomUUID } from "node:crypto";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { describe, inject } from "vitest";
import { MIGRATED, MIGRATED_FILE } from "./migrated.js";

/** One of the two stores, for a suite that holds on both. */
export interface StoreKind {
  readonly name: "sqlite" | "postgres";
  /** A new store: the value of `--store`, and a data directory. Its tables are there: copying them takes less than making them. */
  fresh(): Promise<StorePlace>;
}

export interface BareStoreKind extends StoreKind {
  /** One without any tables. */
  empty(): Promise<StorePlace>;
}

export interface StorePlace {
  readonly store: string;
  readonly dataDir: string;
  remove(): Promise<void>;
}

export function temporaryDirectory(): string {
  return mkdtempSync(join(inject("tmp"), "d"));
}

async function sqlitePlace(): Promise<StorePlace> {
  const place = emptySqlitePlace();
  copyFileSync(join(inject("tmp"), MIGRATED_FILE), join(place.dataDir, "heddle.db"));
  return place;
}

function emptySqlitePlace(): StorePlace {
  const dataDir = temporaryDirectory();
  return {
    store: "sqlite",
    dataDir,
    remove: async () => rmSync(dataDir, { recursive: true, force: true }),
  };
}

const sqlite: BareStoreKind = {
  name: "sqlite",
  fresh: sqlitePlace,
  empty: async () => emptySqlitePlace(),
};

async function postgresPlace(template: string): Promise<StorePlace> {
  const dataDir = temporaryDirectory();
  const database = `heddle_${randomUUID().replaceAll("-", "")}`;
  await administrate(`create database ${database} template ${template} strategy file_copy`);
  const url = new URL(inject("postgres"));
  url.pathname = `/${database}`;
  return {
    store: url.href,
    dataDir,
    async remove() {
      rmSync(dataDir, { recursive: true, force: true });
      await administrate(`drop database ${database} with (force)`);
    },
  };
}

const postgres: BareStoreKind = {
  name: "postgres",
  fresh: () => postgresPlace(MIGRATED),
  empty: () => postgresPlace("template1"),
};

export async function administrate(statement: string, url = inject("postgres")): Promise<pg.QueryResult> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Runs a suite on both stores; on PostgreSQL only where there is one, and the test command says so where there is not. */
export function onEachStore(name: string, suite: (kind: BareStoreKind) => void): void {
  describe(`${name} [sqlite]`, () => suite(sqlite));
  onPostgres(name, suite);
}

/**
 * For a suite that would notice another store only where the suites of the store itself do: on SQLite, and on PostgreSQL with
 * `npm test -- --postgres`.
 */
export function onEitherStore(name: string, suite: (kind: BareStoreKind) => void): void {
  describe(`${name} [sqlite]`, () => suite(sqlite));
  if (process.env.HEDDLE_TEST_POSTGRES === "whole") onPostgres(name, suite);
}

/** Runs a suite on PostgreSQL alone, where there is one. */
export function onPostgres(name: string, suite: (kind: BareStoreKind) => void): void {
  describe.skipIf(inject("postgres") === "")(`${name} [postgres]`, () => suite(postgres));
}

export { postgres as postgresStore, sqlite as sqliteStore };
