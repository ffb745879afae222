import { closeSync, fdatasync, openSync } from "node:fs";
import type { SqliteConnection } from "./driver.js";

/**
 * Flushes the database's log after commits, beside the event loop: a disk that takes its time must not keep everybody
 * waiting. Commits that are made during a flush share the next one.
 */
export class LogFlush {
  readonly #connection: SqliteConnection;
  readonly #path: string;
  #file: number | undefined;
  #running: Promise<void> | undefined;
  /** The flush after the one that is running. */
  #next: Promise<void> | undefined;
  /** Pages that could not be flushed may be gone, and all that is written behind them is worth nothing after a crash. */
  failure: unknown;

  constructor(connection: SqliteConnection, path: string) {
    this.#connection = connection;
    this.#path = path;
  }

  /** To be called after each commit. Resolves when it is on disk; undefined: it is. */
  committed(): Promise<void> | undefined {
    if (this.#file === undefined) return this.#take();
    if (this.#next) return this.#next;
    if (!this.#running) return this.#start(this.#file);
    const file = this.#file;
    const start = () => this.#start(file);
    this.#next = this.#running.then(start, start);
    return this.#next;
  }

  /** Resolves when all that was committed so far is on disk; undefined: it is. */
  pending(): Promise<void> | undefined {
    return this.#next ?? this.#running;
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
  }

  /** SQLite flushes by itself as long as its log is not there to be opened: the first commits, or for ever. */
  #take(): undefined {
    try {
      this.#file = openSync(`${this.#path}-wal`, "r+");
    } catch {
      return;
    }
    this.#connection.exec("pragma synchronous = normal");
  }

  #start(file: number): Promise<void> {
    this.#next = undefined;
    const running = new Promise<void>((resolve, reject) => {
      fdatasync(file, (error) => {
        if (this.#running === running) this.#running = undefined;
        this.failure ??= error ?? undefined;
        if (this.failure === undefined) resolve();
        else reject(this.failure);
      });
    });
    this.#running = running;
    return running;
  }
}
