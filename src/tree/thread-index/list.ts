import type { ParsedParams, Result } from "../../protocol/index.js";
import { threads, workspaces } from "../../store/index.js";
import { DEFAULT_LIMIT, decodeCursor, makePage } from "../cursor.js";
import type { TreeDeps } from "../deps.js";
import { workspaceNotFound } from "../errors.js";
import { requireFolder } from "../folders/limits.js";
import { threadToWire } from "../wire.js";
import { foldTitle } from "./fields.js";

export async function listThreads(
  deps: TreeDeps,
  params: ParsedParams<"thread/list">,
): Promise<Result<"thread/list">> {
  const { workspace_id, agent_id, folder_id } = params;
  const limit = params.limit ?? DEFAULT_LIMIT;
  const order = params.order === "created" ? "created_at" : "updated_at";
  const after = params.cursor === undefined ? undefined : decodeCursor(params.cursor, ["number", "string"]);
  const rows = await deps.store.read(function* () {
    if (!(yield* workspaces.findWorkspace(workspace_id))) throw workspaceNotFound(workspace_id);
    if (folder_id !== undefined) yield* requireFolder(workspace_id, folder_id);
    return yield* threads.listThreads({
      workspace_id,
      agent_id,
      folder_id,
      title_part: params.query === undefined ? undefined : foldTitle(params.query),
      order,
      after: after && { at: after[0], id: after[1] },
      limit: limit + 1,
    });
  });
  return makePage(rows, limit, threadToWire, (row) => [row[order], row.id]);
}
