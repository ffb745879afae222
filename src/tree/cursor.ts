import { treeError } from "./errors.js";

/** Cursors name the last item of a page by its sort key. They are opaque to clients. */
export function encodeCursor(at: number | string, id: number | string): string {
  return Buffer.from(JSON.stringify([at, id])).toString("base64url");
}

export function decodeCursor<A extends "number" | "string", I extends "number" | "string">(
  cursor: string,
  types: readonly [A, I],
): [TypeNamed<A>, TypeNamed<I>] {
  try {
    const key = JSON.parse(Buffer.from(cursor, "base64url").toString());
    if (Array.isArray(key) && key.length === 2 && fits(key[0], types[0]) && fits(key[1], types[1])) {
      return key as [TypeNamed<A>, TypeNamed<I>];
    }
  } catch {
    // Not even JSON: answered like any other cursor that is not ours.
  }
  throw cursorInvalid();
}

export function cursorInvalid() {
  return treeError(
    { kind: "cursor_invalid" },
    "The cursor is not one that a list answered, or what it stood in was replaced. Start without a cursor.",
  );
}

type TypeNamed<T> = T extends "number" ? number : string;

function fits(value: unknown, type: "number" | "string"): boolean {
  if (type === "number") return Number.isSafeInteger(value);
  return typeof value === "string" && /^[A-Za-z0-9._-]{1,128}$/.test(value);
}

export interface Page<T> {
  data: T[];
  next_cursor?: string;
}

/** Makes a page of rows that were asked for with one more than the limit: the extra one says that there is a next page. */
export function makePage<R, T>(
  rows: R[],
  limit: number,
  toWire: (row: R) => T,
  key: (row: R) => [number | string, number | string],
): Page<T> {
  const data = rows.slice(0, limit).map(toWire);
  const last = rows[limit - 1];
  if (rows.length <= limit || last === undefined) return { data };
  return { data, next_cursor: encodeCursor(...key(last)) };
}

export const DEFAULT_LIMIT = 100;
