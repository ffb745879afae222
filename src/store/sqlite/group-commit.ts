import { sqliteErrorCode } from "../../base/index.js";
import type { Commit } from "../store.js";
import type { Note, Sql, Unit } from "../unit.js";
import { whenFree } from "./busy.js";
import type { SqliteConnection } from "./driver.js";
import { sqliteFailure } from "./errors.js";

interface Waiting {
  readonly since: number;
  readonly unit: () => Unit<unknown>;
  readonly origin: unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What a unit came to, to be told once the transaction it is part of is committed. */
type Settle = () => void;

/**
 * Writers that arrive within one turn of the event loop share one transaction, and so one flush to disk. Each unit has a
 * savepoint: one that fails is undone alone.
 */
export class GroupCommit {
  readonly #connection: SqliteConnection;
  readonly #sql: Sql;
  readonly #name: string;
  readonly #committed: (commit: Commit) => void;
  #queue: Waiting[] = [];
  #busy: Promise<void> | undefined;

  constructor(connection: SqliteConnection, sql: Sql, name: string, committed: (commit: Commit) => void) {
    this.#connection = connection;
    this.#sql = sql;
    this.#name = name;
    this.#committed = committed;
  }

  write<T>(unit: () => Unit<T>, origin: unknown): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({
        since: performance.now(),
        unit,
        origin,
        resolve: resolve as (value: unknown) => void,
        reject,
      });
      this.#busy ??= this.#drain();
    });
  }

  /** Resolves when nothing waits to be written any more. */
  async idle(): Promise<void> {
    while (this.#busy) await this.#busy;
  }

  async #drain(): Promise<void> {
    try {
      while (this.#queue.length > 0) {
        await new Promise((next) => setImmediate(next));
        const batch = this.#queue;
        this.#queue = [];
        await this.#run(batch);
      }
    } finally {
      this.#busy = undefined;
    }
  }

  async #run(batch: Waiting[]): Promise<void> {
    try {
      // Only here can another program's lock be met.
      await whenFree(() => this.#connection.exec("begin immediate"), batch[0]?.since);
    } catch (error) {
      for (const { reject } of batch) reject(sqliteFailure(error, this.#name));
      return;
    }
    let outcomes: Settle[];
    try {
      outcomes = batch.map((waiting) => this.#attempt(waiting, batch.length > 1));
      this.#connection.exec("commit");
    } catch (error) {
      this.#rollback();
      // A failure of the store itself may have undone the whole transaction: each unit gets one of its own, so that
      // the healthy ones succeed and the others learn their own cause.
      if (batch.length > 1) for (const waiting of batch) await this.#run([waiting]);
      else batch[0]?.reject(sqliteFailure(error, this.#name));
      return;
    }
    for (const settle of outcomes) settle();
  }

  #attempt(waiting: Waiting, shared: boolean): Settle {
    const notes: Note[] = [];
    if (shared) this.#connection.exec("savepoint unit");
    try {
      const value = runUnit(this.#connection, this.#sql, waiting.unit(), notes);
      if (shared) this.#connection.exec("release unit");
      return () => {
        this.#committed({ notes, origin: waiting.origin });
        waiting.resolve(value);
      };
    } catch (error) {
      if (!shared || sqliteErrorCode(error) !== undefined) throw error;
      this.#connection.exec("rollback to unit");
      this.#connection.exec("release unit");
      return () => waiting.reject(error);
    }
  }

  #rollback(): void {
    try {
      this.#connection.exec("rollback");
    } catch {
      // SQLite has rolled back by itself already, as it does on a full disk.
    }
  }
}

export function runUnit<T>(connection: SqliteConnection, sql: Sql, unit: Unit<T>, notes: Note[]): T {
  let step = unit.next([]);
  while (!step.done) {
    if ("note" in step.value) {
      notes.push(step.value.note);
      step = unit.next([]);
    } else {
      step = unit.next(connection.execute(step.value.statement(sql)));
    }
  }
  return step.value;
}
