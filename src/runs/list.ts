import type { ParsedParams, Result } from "../protocol/index.js";
import { runs, workspaces } from "../store/index.js";
import { DEFAULT_LIMIT, decodeCursor, makePage, workspaceNotFound } from "../tree/index.js";
import type { RunsDeps } from "./deps.js";
import { runToWire } from "./wire.js";

/** Runs of a workspace or a thread, a page at a time. */
export async function listRuns(
  deps: RunsDeps,
  params: ParsedParams<"run/list">,
): Promise<Result<"run/list">> {
  const { workspace_id, thread_id, status, cursor } = params;
  const order = params.order === "created" ? "created_at" : "updated_at";
  const limit = params.limit ?? DEFAULT_LIMIT;
  const after = cursor === undefined ? undefined : decodeCursor(cursor, ["number", "string"]);
  const rows = await deps.store.read(function* () {
    if (!(yield* workspaces.findWorkspace(workspace_id))) throw workspaceNotFound(workspace_id);
    return yield* runs.listRuns({
      workspace_id,
      thread_id,
      status,
      order,
      after: after && { at: after[0], id: after[1] },
      limit: limit + 1,
    });
  });
  return makePage(rows, limit, runToWire, (row) => [row[order], row.id]);
}
