import { isObject, type Json, objectOf } from "../values.js";

/** A message of opencode with its parts, wherever it was kept. */
export interface KeptMessage {
  readonly id: string;
  readonly info: Json;
  readonly parts: readonly Json[];
  /** How many of what it was kept in can't be read. */
  readonly unread: number;
  /** What it was kept in, as it stands there; nothing where that is in the session's own. */
  readonly raw: readonly string[];
}

/** A session, whichever way it is kept: in the database, in the files of older versions, or exported. */
export interface KeptSession {
  readonly info: Json;
  /** What tells one state of it from another, besides what its messages were kept in. */
  readonly raw: string;
  messages(): AsyncIterable<KeptMessage>;
  close(): void;
}

/** What a column or a file holds, if it is an object. */
export function parsed(text: string): Json | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A message out of the texts it is kept in: its own, and those of its parts. */
export function keptMessage(id: string, own: string, inParts: readonly string[]): KeptMessage {
  const info = parsed(own);
  const parts = inParts.map(parsed).filter((part) => part !== undefined);
  const unread = (info ? 0 : 1) + inParts.length - parts.length;
  return { id, info: info ?? {}, parts, unread, raw: [own, ...inParts] };
}

/** Times stand by themselves in a column, and together in a file. */
export function timesOf(info: Json): { readonly created: unknown; readonly updated: unknown } {
  const { created, updated } = objectOf(info.time);
  return { created: info.time_created ?? created, updated: info.time_updated ?? updated };
}
