import {
  type CompiledQuery,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from "kysely";
import type pg from "pg";
import type { Tables } from "../schema.js";
import type { Note, Sql, Unit } from "../unit.js";
import { postgresFailure } from "./errors.js";
import { tookPlace } from "./lost-commit.js";

interface Written<T> {
  readonly value: T;
  readonly notes: readonly Note[];
}

/** Runs units, each in a transaction of its own on a connection of the pool. */
export class Transactions {
  readonly #pool: pg.Pool;
  readonly #name: string;
  readonly #sql: Sql = { db: queryBuilder(), dialect: "postgres" };

  constructor(pool: pg.Pool, name: string) {
    this.#pool = pool;
    this.#name = name;
  }

  async read<T>(unit: () => Unit<T>): Promise<T> {
    return this.#run("begin isolation level repeatable read read only", unit, []);
  }

  async write<T>(unit: () => Unit<T>): Promise<Written<T>> {
    const notes: Note[] = [];
    const value = await this.#run("begin", unit, notes);
    return { value, notes };
  }

  async #run<T>(begin: string, unit: () => Unit<T>, notes: Note[]): Promise<T> {
    let client: pg.PoolClient | undefined;
    let done: { value: T } | undefined;
    try {
      client = await this.#pool.connect();
      await client.query(begin);
      done = { value: await this.#steps(client, unit(), notes) };
      await client.query("commit");
      client.release();
      return done.value;
    } catch (error) {
      // A connection that can't even roll back is thrown away.
      const broken = await client?.query("rollback").then(
        () => false,
        () => true,
      );
      client?.release(broken);
      if (done && broken && (await tookPlace(notes, (check) => this.#run("begin", check, [])))) {
        return done.value;
      }
      throw postgresFailure(error, this.#name);
    }
  }

  async #steps<T>(client: pg.PoolClient, unit: Unit<T>, notes: Note[]): Promise<T> {
    let step = unit.next([]);
    while (!step.done) {
      if ("note" in step.value) {
        notes.push(step.value.note);
        step = unit.next([]);
      } else {
        step = unit.next(await execute(client, step.value.statement(this.#sql)));
      }
    }
    return step.value;
  }
}

async function execute(client: pg.PoolClient, query: CompiledQuery): Promise<unknown[]> {
  const { rows } = await client.query(query.sql, query.parameters as unknown[]);
  return rows;
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
