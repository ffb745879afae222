import type { ParsedParams, Result } from "../protocol/index.js";
import { agentsDocs } from "../store/index.js";
import { DEFAULT_LIMIT, decodeCursor, makePage } from "../tree/index.js";
import type { InstructionsDeps } from "./deps.js";
import { walkScope } from "./resolve.js";
import { revisionToWire } from "./wire.js";

export async function listRevisions(
  deps: InstructionsDeps,
  params: ParsedParams<"thread/agents_doc/revisions">,
): Promise<Result<"thread/agents_doc/revisions">> {
  const { workspace_id, folder_id = null } = params;
  const limit = params.limit ?? DEFAULT_LIMIT;
  const after = params.cursor === undefined ? undefined : decodeCursor(params.cursor, ["string", "number"]);
  const rows = await deps.store.read(function* () {
    yield* walkScope(workspace_id, { folder_id });
    return yield* agentsDocs.listRevisions({
      workspace_id,
      folder_id,
      after: after && { doc_id: after[0], version: after[1] },
      limit: limit + 1,
    });
  });
  return makePage(rows, limit, revisionToWire, (row) => [row.doc_id, row.version]);
}
