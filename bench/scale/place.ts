import pg from "pg";
import type { Databases } from "../../test/crash/postgres.js";
import type { Bench } from "../harness.js";
import { built } from "../support/built.js";
import { Caller } from "../support/caller.js";
import { type GatewayProcess, startGateway } from "../support/child.js";
import { databaseFile } from "../support/local.js";
import { RawSqlite } from "../support/raw.js";
import { type Dialect, fill } from "./fill.js";

/** A store that holds so many threads, and the gateway that works on it. */
export interface Place {
  readonly threads: number;
  readonly dataDir: string;
  /** The value of `--store`. */
  readonly store: string;
}

export interface OpenPlace extends Place {
  readonly gateway: GatewayProcess;
  readonly caller: Caller;
  /** A workspace with a directory of its own in the same store. */
  readonly own: string;
}

export async function makePlace(
  bench: Bench,
  dialect: Dialect,
  threads: number,
  databases: Databases | undefined,
): Promise<Place> {
  const dataDir = bench.directory();
  const store = dialect === "postgres" ? await (databases as Databases).fresh() : databaseFile(dataDir);
  await makeStore(store);
  const away = `${dataDir}/away`;
  if (dialect === "postgres") await fillPostgres(store, threads, away);
  else await fillSqlite(store, threads, away);
  return { threads, dataDir, store };
}

async function makeStore(location: string): Promise<void> {
  const { base, store: stores, tree, instructions } = await built();
  const store = await stores.openStore(location);
  const deps = { store, clock: base.systemClock, makeId: base.idMaker(base.systemClock) };
  await tree.ensureHome({ ...deps, follower: instructions.followFolders(deps) });
  await store.close();
}

async function fillSqlite(file: string, threads: number, away: string): Promise<void> {
  const raw = await RawSqlite.open(file);
  // What is written here is thrown away: nothing waits for the disk or asks whether rows belong together.
  for (const pragma of ["synchronous = off", "foreign_keys = off", "cache_size = -400000"])
    raw.exec(`pragma ${pragma}`);
  raw.exec("begin");
  await fill((sql) => raw.exec(sql), "sqlite", threads, away);
  raw.exec("commit");
  raw.close();
}

async function fillPostgres(url: string, threads: number, away: string): Promise<void> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query("set session_replication_role = replica");
  await client.query("begin");
  await fill((sql) => client.query(sql), "postgres", threads, away);
  await client.query("commit");
  // As the server does by itself in time.
  await client.query("vacuum analyze");
  await client.end();
}

export function startAt(bench: Bench, { dataDir, store }: Place): Promise<GatewayProcess> {
  return startGateway(bench, dataDir, undefined, [
    "--store",
    store.startsWith("postgres") ? store : "sqlite",
  ]);
}

export async function openPlace(bench: Bench, place: Place): Promise<OpenPlace> {
  const gateway = await startAt(bench, place);
  const caller = await Caller.open(bench, gateway.url, gateway.token);
  const { workspace } = await caller.ask("workspace/create", { root_path: bench.directory() });
  return { ...place, gateway, caller, own: workspace.id };
}
