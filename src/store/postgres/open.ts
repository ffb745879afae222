import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from "kysely";
import pg from "pg";
import { Turns } from "../../base/index.js";
import { storeClosed } from "../errors.js";
import { CommitListeners } from "../listeners.js";
import { migrate } from "../migrations/index.js";
import type { Tables } from "../schema.js";
import type { Store } from "../store.js";
import { checkUnit, type Note, type Sql, type Unit } from "../unit.js";
import { postgresFailure, unreachable } from "./errors.js";
import { WriterLock } from "./writer-lock.js";

const CONNECTIONS = 10;
const CONNECT_TIMEOUT_MS = 10_000;
const INT8 = 20;

/** Opens a store on PostgreSQL, migrating it. Refused while another gateway uses the same database. */
export async function openPostgres(url: string): Promise<Store> {
  const name = withoutPassword(url);
  const options: pg.ClientConfig = {
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: "heddle",
    types: { getTypeParser: typeParser as typeof pg.types.getTypeParser },
  };
  const lock = new WriterLock(async () => {
    try {
      const client = new pg.Client(options);
      client.on("error", survive);
      await client.connect();
      return client;
    } catch (error) {
      throw unreachable(error, name);
    }
  }, name);
  const pool = new pg.Pool({ ...options, max: CONNECTIONS, idleTimeoutMillis: 30_000 });
  pool.on("error", survive);
  pool.on("connect", (client) => client.on("error", survive));
  try {
    await lock.take();
    const store = postgresStore(pool, lock, name);
    await migrate(store);
    return store;
  } catch (error) {
    await lock.close();
    await pool.end();
    throw postgresFailure(error, name);
  }
}

/** Without a listener on every client, also while it works, a connection that is lost would end the process. */
function survive(): void {}

/** Heddle's 64-bit columns (times, ranks, sequence numbers) all fit a double. */
function typeParser(oid: number, format?: "text" | "binary"): (value: string) => unknown {
  return oid === INT8 ? Number : pg.types.getTypeParser(oid, format as "text");
}

function withoutPassword(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    // A slash in a password that was not encoded moves the rest of it into the path.
    return pathname.includes("@") ? "postgres" : `${protocol}//${host}${pathname}`;
  } catch {
    return "postgres";
  }
}

function queryBuilder(): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

function postgresStore(pool: pg.Pool, lock: WriterLock, name: string): Store {
  const sql: Sql = { db: queryBuilder(), dialect: "postgres" };
  const listeners = new CommitListeners();
  const turns = new Turns();
  const running = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  /** A pool that is ended forgets those who wait for a connection: it is ended when nobody does. */
  async function running_<T>(work: () => Promise<T>): Promise<T> {
    if (closing) throw storeClosed(name);
    const promise = work();
    running.add(promise);
    try {
      return await promise;
    } finally {
      running.delete(promise);
    }
  }

  return {
    kind: "postgres",
    name,
  };
}

async function runUnit<T>(client: pg.PoolClient, sql: Sql, unit: Unit<T>, notes: Note[]): Promise<T> {
  let step = unit.next([]);
  while (!step.done) {
    if ("note" in step.value) {
      notes.push(step.value.note);
      step = unit.next([]);
    } else {
      step = unit.next(await execute(client, step.value.statement(sql)));
    }
  }
  return step.value;
}

async function execute(client: pg.PoolClient, query: CompiledQuery): Promise<unknown[]> {
  const { rows } = await client.query(query.sql, query.parameters as unknown[]);
  return rows;
}
