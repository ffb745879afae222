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
import { migrate } from "../migrations/index.js";
import type { Tables } from "../schema.js";
import type { Commit, Store } from "../store.js";
import type { Note, Sql, Unit } from "../unit.js";
import { postgresFailure } from "./errors.js";
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
    const client = new pg.Client(options);
    await client.connect();
    return client;
  }, name);
  const pool = new pg.Pool({ ...options, max: CONNECTIONS, idleTimeoutMillis: 30_000 });
  // Without a listener a server that stops would end the process.
  pool.on("error", () => {});
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

/** Heddle's 64-bit columns (times, ranks, sequence numbers) all fit a double. */
function typeParser(oid: number, format?: "text" | "binary"): (value: string) => unknown {
  return oid === INT8 ? Number : pg.types.getTypeParser(oid, format as "text");
}

function withoutPassword(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    return `${protocol}//${host}${pathname}`;
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
  const listeners = new Set<(commit: Commit) => void>();
  const turns = new Turns();

  async function transaction<T>(begin: string, unit: () => Unit<T>, notes: Note[]): Promise<T> {
    let client: pg.PoolClient | undefined;
    try {
      client = await pool.connect();
      await client.query(begin);
      const value = await runUnit(client, sql, unit(), notes);
      await client.query("commit");
      client.release();
      return value;
    } catch (error) {
      // A connection that can't even roll back is thrown away.
      const broken = await client?.query("rollback").then(
        () => false,
        () => true,
      );
      client?.release(broken);
      throw postgresFailure(error, name);
    }
  }

  return {
    kind: "postgres",
    name,
    read: (unit) => transaction("begin isolation level repeatable read read only", unit, []),
    write: ({ key, origin }, unit) =>
      turns.run(key, async () => {
        lock.assertHeld();
        const notes: Note[] = [];
        const value = await transaction("begin", unit, notes);
        if (notes.length > 0) for (const listener of listeners) listener({ notes, origin });
        return value;
      }),
    onCommit(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async check() {
      lock.assertHeld();
      await transaction("begin read only", () => checkUnit(), []);
    },
    async close() {
      await pool.end();
      await lock.close();
    },
  };
}

function* checkUnit(): Unit<void> {
  yield { statement: ({ db }) => db.selectFrom("schema_version").select("version").limit(1).compile() };
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
