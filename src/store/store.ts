import type { Note, Unit } from "./unit.js";

export interface WriteOptions {
  /**
   * Units with one key run one after the other, in the order they were asked for: the workspace's id. A unit that
   * announces something in a workspace has its id among its keys, or clients could be told out of order.
   */
  readonly key: string | readonly string[];
  /** Handed to listeners with the unit's notes, so that a gateway can tell whose request they came from. */
  readonly origin?: unknown;
  /**
   * Called when it is committed but perhaps not flushed: it outlives this process, not a power cut. Whoever goes on then
   * tells nobody of it, and does nothing that follows from it, before the promise resolves.
   */
  readonly written?: () => void;
}

export interface Commit {
  readonly notes: readonly Note[];
  readonly origin: unknown;
}

/**
 * The relational store. A unit handed to `write` is atomic and durable when the promise resolves; if it throws, nothing
 * of it is kept. Listeners hear of every commit in order, after it is durable and before its writer's promise resolves.
 */
export interface Store {
  readonly kind: "sqlite" | "postgres";
  /** The store as a person would name it: a path, or an address without its password. */
  readonly name: string;
  /** Everything in the unit sees one state of the store. */
  read<T>(unit: () => Unit<T>): Promise<T>;
  /** The same, but it may see what is committed and not yet flushed: for what is only told of after another commit. */
  readAhead<T>(unit: () => Unit<T>): Promise<T>;
  write<T>(options: WriteOptions, unit: () => Unit<T>): Promise<T>;
  /** A listener must not throw; one that does is passed over with a warning. */
  onCommit(listener: (commit: Commit) => void): () => void;
  /** Whether nobody else can have written: only then may something be remembered of the store. */
  exclusive(): boolean;
  /** Hears when another gateway may have written: what was remembered of the store no longer holds. */
  onForget(listener: () => void): () => void;
  /** Throws when the store can't answer. */
  check(): Promise<void>;
  /** Lets what was asked for end; refuses what comes later with `store.unavailable`. */
  close(): Promise<void>;
}
