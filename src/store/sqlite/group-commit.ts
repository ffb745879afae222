import { sqliteErrorCode } from "../../base/index.js";
import type { Commit, WriteOptions } from "../store.js";
import type { Note, Sql, Unit } from "../unit.js";
import { whenFree } from "./busy.js";
import type { SqliteConnection } from "./driver.js";
import { flushFailure, sqliteFailure } from "./errors.js";
import type { LogFlush } from "./log-flush.js";

interface Waiting {
  readonly since: number;
  readonly unit: () => Unit<unknown>;
  readonly origin: unknown;
  readonly written: (() => void) | undefined;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** What a unit came to. */
interface Outcome {
  /** Told once the transaction it is part of is committed. */
  readonly written?: (() => void) | undefined;
  /** Told once it is on disk. */
  readonly settle: () => void;
}

export interface GroupCommitDeps {
  readonly connection: SqliteConnection;
  readonly sql: Sql;
  readonly name: string;
  readonly flush: LogFlush;
  readonly committed: (commit: Commit) => void;
}

/**
 * Writers that arrive within one turn of the event loop share one transaction, and so one flush to disk. Each unit has a
 * savepoint: one that fails is undone alone.
 */
export class GroupCommit {
  readonly #connection: SqliteConnection;
  readonly #sql: Sql;
  readonly #name: string;
  readonly #flush: LogFlush;
  readonly #committed: (commit: Commit) => void;
  #queue: Waiting[] = [];
  #busy: Promise<void> | undefined;
  /** Resolves when the latest commit was told of. */
  #told: Promise<void> | undefined;

  constructor({ connection, sql, name, flush, committed }: GroupCommitDeps) {
    this.#connection = connection;
    this.#sql = sql;
    this.#name = name;
    this.#flush = flush;
    this.#committed = committed;
  }

  write<T>(unit: () => Unit<T>, { origin, written }: Pick<WriteOptions, "origin" | "written">): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#queue.push({
        since: performance.now(),
        unit,
        origin,
        written,
        resolve: resolve as (value: unknown) => void,
        reject,
      });
      this.#busy ??= this.#drain();
    });
  }

  /** Resolves when nothing waits to be written any more. */
  async idle(): Promise<void> {
    while (this.#busy || this.#told) await (this.#busy ?? this.#told);
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
    if (this.#flush.failure !== undefined) return this.#refuse(batch);
    try {
      // Only here can another program's lock be met.
      await whenFree(() => this.#connection.exec("begin immediate"), batch[0]?.since);
    } catch (error) {
      for (const { reject } of batch) reject(sqliteFailure(error, this.#name));
      return;
    }
    const outcomes = await this.#commit(batch);
    if (!outcomes) return;
    for (const { written } of outcomes) written?.();
    const flushed = this.#connection.wrote ? this.#flush.committed() : this.#flush.pending();
    if (!flushed && !this.#told) for (const { settle } of outcomes) settle();
    else this.#tell(batch, outcomes, flushed);
  }

  /** Undefined: it was undone, and each unit has learnt what became of it. */
  async #commit(batch: Waiting[]): Promise<Outcome[] | undefined> {
    try {
      this.#connection.wrote = false;
      const outcomes = batch.map((waiting) => this.#attempt(waiting, batch.length > 1));
      this.#connection.exec("commit");
      return outcomes;
    } catch (error) {
      this.#rollback();
      // A failure of the store itself may have undone the whole transaction: each unit gets one of its own, so that
      // the healthy ones succeed and the others learn their own cause.
      if (batch.length > 1) for (const waiting of batch) await this.#run([waiting]);
      else batch[0]?.reject(sqliteFailure(error, this.#name));
      return undefined;
    }
  }

  /** Flushes end in the order of their commits, and so these are told of in that order. */
  #tell(batch: readonly Waiting[], outcomes: readonly Outcome[], flushed: Promise<void> | undefined): void {
    const told: Promise<void> = (flushed ?? Promise.resolve())
      .then(
        () => {
          for (const { settle } of outcomes) settle();
        },
        () => this.#refuse(batch),
      )
      .finally(() => {
        if (this.#told === told) this.#told = undefined;
      });
    this.#told = told;
  }

  #refuse(batch: readonly Waiting[]): void {
    for (const { reject } of batch) reject(flushFailure(this.#flush.failure, this.#name));
  }

  #attempt(waiting: Waiting, shared: boolean): Outcome {
    const notes: Note[] = [];
    if (shared) this.#connection.exec("savepoint unit");
    try {
      const value = runUnit(this.#connection, this.#sql, waiting.unit(), notes);
      if (shared) this.#connection.exec("release unit");
      const settle = () => {
        this.#committed({ notes, origin: waiting.origin });
        waiting.resolve(value);
      };
      return { written: waiting.written, settle };
    } catch (error) {
      if (!shared || sqliteErrorCode(error) !== undefined) throw error;
      this.#connection.exec("rollback to unit");
      this.#connection.exec("release unit");
      return { settle: () => waiting.reject(error) };
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
