import { unixSeconds } from "../base/index.js";
import { journal } from "../store/index.js";
import type { RunsDeps } from "./deps.js";

const KEPT_SECONDS = 30 * 24 * 3600;
const BATCH = 100;

/** Forgets the runs of threads that have been gone for 30 days: their files are not coming back. */
export async function forgetGone(deps: Pick<RunsDeps, "store" | "clock">): Promise<void> {
  const before = unixSeconds(deps.clock) - KEPT_SECONDS;
  for (;;) {
    const keys = await deps.store.read(() => journal.orphanedJournals(before, BATCH));
    for (const key of keys)
      await deps.store.write({ key: key.workspace_id }, () => journal.removeJournal(key));
    if (keys.length < BATCH) return;
  }
}
