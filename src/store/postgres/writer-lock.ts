import type { Client } from "pg";
import { storeError } from "../errors.js";

/** Any number that is the same for every gateway: "heddle" as a 48-bit integer. */
const LOCK_KEY = 0x686564646c65;
const RETRY_MS = 1_000;

/**
 * One writing gateway per database, as on the embedded store: sequence numbers, caches and notifications rest on it.
 * The lock lives with its connection. When that is lost the store refuses to write until the lock is held again.
 */
export class WriterLock {
  readonly #connect: () => Promise<Client>;
  readonly #name: string;
  readonly #forget = new Set<() => void>();
  #client: Client | undefined;
  #closed = false;

  constructor(connect: () => Promise<Client>, name: string) {
    this.#connect = connect;
    this.#name = name;
  }

  async take(): Promise<void> {
    const client = await this.#connect();
    try {
      const { rows } = await client.query("select pg_try_advisory_lock($1) as taken", [LOCK_KEY]);
      if (!rows[0]?.taken) throw this.#taken();
    } catch (error) {
      await client.end().catch(() => {});
      throw error;
    }
    // The store may have been closed while the connection was being made.
    if (this.#closed) return client.end();
    this.#client = client;
    client.on("error", () => this.#lost(client));
    client.on("end", () => this.#lost(client));
  }

  /** Hears when the lock is held again: in between another gateway may have had it. */
  onRegained(listener: () => void): () => void {
    this.#forget.add(listener);
    return () => this.#forget.delete(listener);
  }

  get held(): boolean {
    return this.#client !== undefined;
  }

  assertHeld(): void {
    if (this.held) return;
    throw storeError(
      { kind: "store.unavailable", store: this.#name },
      `The connection to ${this.#name} was lost. Heddle tries again every second.`,
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#client?.end().catch(() => {});
  }

  #taken() {
    return storeError(
      { kind: "store.taken", data_dir: this.#name },
      `Another gateway is using ${this.#name}. Stop it first, or give this one a database of its own.`,
    );
  }

  #lost(client: Client): void {
    if (this.#client !== client) return;
    this.#client = undefined;
    this.#retry();
  }

  #retry(): void {
    if (this.#closed) return;
    setTimeout(() => {
      if (!this.#closed) this.#retake().catch(() => this.#retry());
    }, RETRY_MS).unref();
  }

  async #retake(): Promise<void> {
    await this.take();
    for (const listener of this.#forget) listener();
  }
}
