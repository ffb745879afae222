import { ENVELOPE, LOCK, LOG } from "../layout.js";

/**
 * Files that belong to a moment of one machine: the lock with what its driver puts beside it, and files whose writer has
 * not renamed them yet. In another place they would mean nothing, so they never travel.
 */
export function isPassing(path: string): boolean {
  return (
    path === LOCK || path.startsWith(`${LOCK}-`) || TEMPORARY.test(path.slice(path.lastIndexOf("/") + 1))
  );
}

/** What was put aside beside the files of a thread: torn tails, cleared logs, envelopes that were replaced. */
export function isSetAside(path: string): boolean {
  return [`${LOG}.torn-`, `${LOG}.cleared-`, `${ENVELOPE}.broken-`].some((start) => path.startsWith(start));
}

const TEMPORARY = /^(\..+|thread\.json\b.*|messages\.jsonl\b.*)\.tmp$/;
