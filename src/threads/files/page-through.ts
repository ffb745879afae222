import { setImmediate as breathe } from "node:timers/promises";
import type { Store, threadFiles, Unit } from "../../store/index.js";

/** Few enough that nobody notices while the embedded store reads them. */
const PAGE = 500;

/**
 * Goes through all threads of a workspace, a page at a time. Between two pages others have their turn, so that what is
 * made meanwhile may be missing, and what is deleted meanwhile may come.
 */
export async function* pageThrough<R extends { readonly id: string }>(
  { store }: { readonly store: Store },
  workspace_id: string,
  pageOf: (page: threadFiles.ThreadsPage) => Unit<R[]>,
): AsyncGenerator<R> {
  for (let after = ""; ; await breathe()) {
    const page = { workspace_id, after, limit: PAGE };
    const rows = await store.read(() => pageOf(page));
    yield* rows;
    if (rows.length < PAGE) return;
    after = rows.at(-1)?.id ?? "";
  }
}
