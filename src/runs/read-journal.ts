import { parseEvent } from "../journal/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import { journal } from "../store/index.js";
import { DEFAULT_LIMIT, decodeCursor, encodeCursor } from "../tree/index.js";
import type { RunsDeps } from "./deps.js";
import { requireRun } from "./find.js";

/** The events of a run, in order, a page at a time. What others did meanwhile in the same thread is left out. */
export async function readJournal(
  deps: RunsDeps,
  params: ParsedParams<"run/journal">,
): Promise<Result<"run/journal">> {
  const limit = params.limit ?? DEFAULT_LIMIT;
  const after =
    params.cursor === undefined ? undefined : decodeCursor(params.cursor, ["number", "string"])[0];
  return deps.store.read(function* () {
    const row = yield* requireRun(params);
    const range = {
      from: (after ?? row.first_seq - 1) + 1,
      to: row.last_seq ?? Number.MAX_SAFE_INTEGER,
      limit,
    };
    const rows = yield* journal.listEvents(row, range);
    const data = rows
      .map(({ body, hash }) => ({ ...parseEvent({ body }), hash }))
      .filter(({ run_id }) => run_id === row.id);
    const last = rows.at(-1)?.seq;
    const more = rows.length === limit && last !== undefined && last !== row.last_seq;
    return { data, ...(more && { next_cursor: encodeCursor(last, row.id) }) };
  });
}
