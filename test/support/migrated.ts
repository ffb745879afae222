import { join } from "node:path";
import pg from "pg";
import { openStore } from "../../src/store/index.js";

/** A database with all tables and nothing in them, which others are copies of. */
export const MIGRATED = "heddle_migrated";

export async function makeMigrated(server: string): Promise<void> {
  const client = new pg.Client(server);
  await client.connect();
  await client.query(`create database ${MIGRATED}`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${MIGRATED}`;
  const store = await openStore(url.href);
  await store.close();
}

/** The same as a file, below the directory of a test run. */
export const MIGRATED_FILE = "migrated.db";

export async function makeMigratedFile(directory: string): Promise<void> {
  const store = await openStore(join(directory, MIGRATED_FILE));
  await store.close();
}
