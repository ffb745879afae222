import { failures, HeddleError } from "../base/index.js";

export type StoreFailure =
  | { kind: "store.taken"; data_dir: string; pid?: number }
  | { kind: "store.newer_schema"; found: number; known: number }
  | { kind: "store.not_heddle"; store: string }
  | { kind: "store.corrupt"; store: string }
  | { kind: "store.read_only"; store: string }
  | { kind: "store.full"; store: string }
  | { kind: "store.busy"; store: string }
  | { kind: "store.unavailable"; store: string };

export const storeError = failures<StoreFailure>();

/** The store's own trouble, which says nothing about what was to be written to it. */
export function isStoreFailure(error: unknown): boolean {
  return error instanceof HeddleError && error.kind.startsWith("store.");
}

type Condition = "corrupt" | "read_only" | "full" | "busy" | "unavailable";

const advice: Record<Condition, string> = {
  corrupt: "is damaged or not a database; restore it from a backup (nothing was changed)",
  read_only:
    "can't be written: check the permissions of the file and its directory, or of the database's user",
  full: "can't grow: the disk is full; free some space and try again",
  busy: "is locked by another program; close that program and try again",
  unavailable: "can't be reached; check that it is there and running",
};

/** An error of a driver in Heddle's words; what has no known cause stays as it is and is answered as internal. */
export function storeCondition(condition: Condition | undefined, store: string, cause: unknown): unknown {
  if (cause instanceof HeddleError || condition === undefined) return cause;
  return storeError({ kind: `store.${condition}`, store }, `The store ${store} ${advice[condition]}.`, cause);
}

export function storeClosed(store: string): HeddleError {
  return storeError({ kind: "store.unavailable", store }, `The store ${store} is closed.`);
}
