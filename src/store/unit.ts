import type { Compilable, CompiledQuery, Kysely } from "kysely";
import type { Tables } from "./schema.js";

/** What a statement is built with: the store's own query builder and the little in which the dialects differ. */
export interface Sql {
  readonly db: Kysely<Tables>;
  readonly dialect: "sqlite" | "postgres";
}

/** A notification that becomes visible once its unit is committed. `params` is the JSON text clients get. */
export interface Note {
  readonly workspace_id: string;
  readonly seq: number;
  readonly method: string;
  readonly params: string;
}

export type Step = { readonly statement: (sql: Sql) => CompiledQuery } | { readonly note: Note };

/**
 * A piece of work on the store, written once for both: SQLite drives it synchronously, so that many units share one
 * commit; PostgreSQL drives it asynchronously in a transaction of its own. It must not await anything.
 */
export type Unit<T> = Generator<Step, T, unknown[]>;

/** Runs one query within a unit and gives its rows. */
export function* query<R>(build: (sql: Sql) => Compilable<R>): Unit<R[]> {
  return (yield { statement: (sql) => build(sql).compile() }) as R[];
}

/** The first row of a query, if there is one. */
export function* first<R>(build: (sql: Sql) => Compilable<R>): Unit<R | undefined> {
  return (yield* query(build))[0];
}

/** Asks for as little as possible: fails when the store can't answer. */
export function* checkUnit(): Unit<void> {
  yield* query(({ db }) => db.selectFrom("schema_version").select("version").limit(1));
}

/** Tells clients of the change, once it is durable. */
export function* emit(note: Note): Unit<void> {
  yield { note };
}

/** More rows take another statement: each number of them that comes together is one to be kept. */
const ROWS_AT_ONCE = 16;

/** Inserts rows with one statement, however many come together: around each statement goes more time than into a row. */
export function insertRows<T extends keyof Tables & string>(
  table: T,
  columns: readonly (keyof Tables[T] & string)[],
): (rows: readonly Tables[T][]) => Unit<void> {
  const compiled = new Map<string, CompiledQuery>();
  function compile({ db, dialect }: Sql, count: number): CompiledQuery {
    const key = `${dialect} ${count}`;
    const found = compiled.get(key);
    if (found) return found;
    const row = Object.fromEntries(columns.map((column) => [column, null]));
    const made = db
      .insertInto(table)
      .values(Array.from({ length: count }, () => row) as never)
      .compile();
    compiled.set(key, made);
    return made;
  }
  return function* run(rows) {
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
      const some = rows.slice(from, from + ROWS_AT_ONCE);
      const parameters = some.flatMap((row) => columns.map((column) => row[column]));
      yield { statement: (sql) => ({ ...compile(sql, some.length), parameters }) };
    }
  };
}

/** Stands in a prepared query where a value will be when it runs. */
class Argument {
  constructor(readonly key: string) {}
}

/**
 * A query that is built once per dialect and then only bound: building one takes longer than SQLite takes to run it.
 * `arg("name")` marks where a value goes.
 */
export function prepared<A extends object, R>(
  build: (sql: Sql, arg: <K extends keyof A & string>(key: K) => A[K]) => Compilable<R>,
): (args: A) => Unit<R[]> {
  const compiled = new Map<Sql["dialect"], CompiledQuery>();
  function compile(sql: Sql): CompiledQuery {
    const found = compiled.get(sql.dialect);
    if (found) return found;
    const made = build(sql, (key) => new Argument(key) as never).compile();
    compiled.set(sql.dialect, made);
    return made;
  }
  return function* run(args) {
    const rows = yield {
      statement(sql) {
        const query = compile(sql);
        const parameters = query.parameters.map((value) =>
          value instanceof Argument ? (args as Record<string, unknown>)[value.key] : value,
        );
        return { ...query, parameters };
      },
    };
    return rows as R[];
  };
}
