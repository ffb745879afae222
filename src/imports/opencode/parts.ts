import { isObject, type Json, objectOf, wordOf } from "../values.js";

/** A message of opencode with its parts, wherever it was kept. */
export interface KeptMessage {
  readonly id: string;
  readonly info: Json;
  readonly parts: readonly Json[];
}

/** A session, whichever way it is kept: in the database, in the files of older versions, or exported. */
export interface KeptSession {
  readonly info: Json;
  messages(): AsyncIterable<KeptMessage>;
  close(): void;
}

/** What a column or a file holds, if it is an object. */
export function parsed(text: unknown): Json | undefined {
  if (isObject(text)) return text;
  try {
    const value: unknown = JSON.parse(wordOf(text));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Times stand by themselves in a column, and together in a file. */
export function timesOf(info: Json): { readonly created: unknown; readonly updated: unknown } {
  const { created, updated } = objectOf(info.time);
  return { created: info.time_created ?? created, updated: info.time_updated ?? updated };
}
