import { MAX_DOCUMENT_CHARS, MAX_NAME_CHARS } from "../../protocol/index.js";

/** Counts are of what is there; what was deleted does not count. Lengths are in characters. */
export const LIMITS = {
  lists: 200,
  notes: 1_000,
  views: 200,
  itemsOfList: 2_000,
  items: 20_000,
  itemsAtOnce: 100,
  name: MAX_NAME_CHARS,
  description: 2_000,
  content: MAX_DOCUMENT_CHARS,
  query: 1_000,
  title: 500,
  itemNotes: 4_000,
  url: 2_000,
  tag: 64,
  tags: 20,
} as const;
