import pg from "pg";
import { Turns } from "../../base/index.js";
import { storeClosed } from "../errors.js";
import { CommitListeners } from "../listeners.js";
import { migrate } from "../migrations/index.js";
import type { Store } from "../store.js";
import { checkUnit } from "../unit.js";
import { postgresFailure, unreachable } from "./errors.js";
import { Transactions } from "./transactions.js";
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
  const lock = new WriterLock(() => connect(options, name), name);
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

async function connect(options: pg.ClientConfig, name: string): Promise<pg.Client> {
  let client: pg.Client | undefined;
  try {
    client = new pg.Client(options);
    client.on("error", survive);
    await client.connect();
    return client;
  } catch (error) {
    // Without this the server would hold a half-made connection for a minute.
    client?.end().catch(survive);
    throw unreachable(error, name);
  }
}

/** Without a listener on every client, also while it works, a connection that is lost would end the process. */
function survive(): void {}

/** Heddle's 64-bit columns (times, ranks, sequence numbers) all fit a double. */
function typeParser(oid: number, format?: "text" | "binary"): (value: string) => unknown {
  return oid === INT8 ? Number : pg.types.getTypeParser(oid, format as "text");
}

export function withoutPassword(url: string): string {
  try {
    const { protocol, host, pathname } = new URL(url);
    // A slash in a password that was not encoded moves the rest of it into the path.
    return pathname.includes("@") ? "postgres" : `${protocol}//${host}${pathname}`;
  } catch {
    return "postgres";
  }
}

function postgresStore(pool: pg.Pool, lock: WriterLock, name: string): Store {
  const transactions = new Transactions(pool, name);
  const listeners = new CommitListeners();
  const turns = new Turns();
  const underway = new Set<Promise<unknown>>();
  let closing: Promise<void> | undefined;

  async function admit<T>(work: () => Promise<T>): Promise<T> {
    if (closing) throw storeClosed(name);
    const promise = work();
    underway.add(promise);
    try {
      return await promise;
    } finally {
      underway.delete(promise);
    }
  }

  async function close(): Promise<void> {
    // A pool that is ended forgets those who still wait for a connection: so it is ended when nobody does.
    while (underway.size > 0) await Promise.allSettled(underway);
    await pool.end();
    await lock.close();
  }

  return {
    kind: "postgres",
    name,
    read: (unit) => admit(() => transactions.read(unit)),
    // What is committed is flushed.
    readAhead: (unit) => admit(() => transactions.read(unit)),
    write: ({ key, origin, written }, unit) =>
      admit(() =>
        turns.run(key, async () => {
          lock.assertHeld();
          const { value, notes } = await transactions.write(unit);
          written?.();
          listeners.tell({ notes, origin });
          return value;
        }),
      ),
    onCommit: (listener) => listeners.add(listener),
    exclusive: () => lock.held,
    onForget: (listener) => lock.onRegained(listener),
    check: () =>
      admit(async () => {
        lock.assertHeld();
        await transactions.read(checkUnit);
      }),
    close() {
      closing ??= close();
      return closing;
    },
  };
}
