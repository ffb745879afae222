import type { Acting } from "../act.js";
import type { KnownThread } from "../ledger.js";

/** A word that nobody used before. */
export function word({ known }: Acting): string {
  return `${known.name}.${known.next++}`;
}

export function oneOf({ known }: Acting, isMeant: (thread: KnownThread) => boolean): KnownThread | undefined {
  return known.chance.pick(known.threads.filter((thread) => !thread.deleted && isMeant(thread)));
}
