import { z } from "zod";
import { MOST_OUTPUT_BYTES } from "../outcome.js";

/** Kept free for what stands around a page. */
const AROUND_BYTES = 16 * 1024;
const PAGE_BYTES = MOST_OUTPUT_BYTES - AROUND_BYTES;
const MOST_ON_PAGE = 500;
const USUAL_ON_PAGE = 100;

export const pageKeys = {
  offset: z.int().min(0).max(1_000_000).optional().describe("how many to leave out first; default 0"),
  limit: z
    .int()
    .min(1)
    .max(MOST_ON_PAGE)
    .optional()
    .describe(`how many to give at most; default ${USUAL_ON_PAGE}`),
};

export interface Asked {
  readonly offset: number;
  readonly limit: number;
}

export function askedPage({
  offset = 0,
  limit = USUAL_ON_PAGE,
}: Partial<Record<keyof Asked, number | undefined>>): Asked {
  return { offset, limit };
}

/** One more than asked for: whether there is a next one is seen by it. */
export function withNext({ offset, limit }: Asked): Asked {
  return { offset, limit: limit + 1 };
}

export interface Page<T> {
  readonly shown: readonly T[];
  /** Where to go on from, when there is more. */
  readonly next: { readonly next_offset?: number };
  /** Less is given than was asked for. */
  readonly truncated: boolean;
}

/** As many as were asked for and fit into an answer, always one: no single one is larger than that. */
export function pageOf<T>(rows: readonly T[], { offset, limit }: Asked): Page<T> {
  const asked = rows.slice(0, limit);
  let bytes = 0;
  let shown = 0;
  for (const row of asked) {
    bytes += Buffer.byteLength(JSON.stringify(row)) + 1;
    if (bytes > PAGE_BYTES && shown > 0) break;
    shown++;
  }
  return {
    shown: asked.slice(0, shown),
    next: shown < rows.length ? { next_offset: offset + shown } : {},
    truncated: shown < asked.length,
  };
}

/** The part of a text, from a character on, that fits into an answer. */
export function partOf(text: string, from: number): { readonly part: string; readonly next?: number } {
  const characters = [...text].slice(from);
  let bytes = 0;
  for (const [at, character] of characters.entries()) {
    bytes += Buffer.byteLength(JSON.stringify(character)) - 2;
    if (bytes > PAGE_BYTES) return { part: characters.slice(0, at).join(""), next: from + at };
  }
  return { part: characters.join("") };
}
