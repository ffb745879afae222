import type { ParsedParams, Result } from "../../protocol/index.js";
import { workspaces } from "../../store/index.js";
import { DEFAULT_LIMIT, decodeCursor, makePage } from "../cursor.js";
import type { TreeDeps } from "../deps.js";
import { workspaceToWire } from "../wire.js";

export async function listWorkspaces(
  deps: TreeDeps,
  params: ParsedParams<"workspace/list">,
): Promise<Result<"workspace/list">> {
  const limit = params.limit ?? DEFAULT_LIMIT;
  const after = params.cursor === undefined ? undefined : decodeCursor(params.cursor, ["number", "string"]);
  const rows = await deps.store.read(() =>
    workspaces.listWorkspaces(limit + 1, after && { created_at: after[0], id: after[1] }),
  );
  return makePage(rows, limit, workspaceToWire, (row) => [row.created_at, row.id]);
}
