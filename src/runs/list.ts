import type { ParsedParams, Result } from "../protocol/index.js";
import { type RunRow, runs, type Unit, workspaces } from "../store/index.js";
import { DEFAULT_LIMIT, decodeCursor, makePage, workspaceNotFound } from "../tree/index.js";
import type { RunsDeps } from "./deps.js";
import { requireRun } from "./find.js";
import { runsToWire } from "./wire.js";

type ListParams = ParsedParams<"run/list">;

/** Runs of a workspace, a thread or a delegation, a page at a time. */
export async function listRuns(deps: RunsDeps, params: ListParams): Promise<Result<"run/list">> {
  return deps.store.read(function* () {
    if (!(yield* workspaces.findWorkspace(params.workspace_id))) throw workspaceNotFound(params.workspace_id);
    if (params.tree_of !== undefined) return yield* listTree(params, params.tree_of);
    const order = params.order === "created" ? "created_at" : "updated_at";
    const limit = params.limit ?? DEFAULT_LIMIT;
    const rows = yield* runs.listRuns({ ...filterOf(params), order, limit: limit + 1 });
    const page = makePage(
      rows,
      limit,
      (row: RunRow) => row,
      (row) => [row[order], row.id],
    );
    return { ...page, data: yield* runsToWire(page.data) };
  });
}

function filterOf({ workspace_id, thread_id, status, cursor }: ListParams) {
  const after = cursor === undefined ? undefined : decodeCursor(cursor, ["number", "string"]);
  return { workspace_id, thread_id, status, after: after && { at: after[0], id: after[1] } };
}

/** More than a limit on hops and depth lets grow, and less than a client chokes on. */
const MOST_IN_TREE = 1_000;

/** A delegation is read whole: what one run of it means is told by the others. */
function* listTree(
  { workspace_id, thread_id, status }: ListParams,
  run_id: string,
): Unit<Result<"run/list">> {
  yield* requireRun({ run_id, workspace_id });
  const rows = yield* runs.runTree(run_id, MOST_IN_TREE);
  const wanted = rows.filter(
    (row) =>
      (thread_id === undefined || row.thread_id === thread_id) &&
      (status === undefined || (status as readonly string[]).includes(row.status)),
  );
  return { data: yield* runsToWire(wanted) };
}
