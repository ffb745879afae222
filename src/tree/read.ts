import type { AgentsDocSummary, ParsedParams, Result } from "../protocol/index.js";
import { agentsDocs, folders, threads, workspaces } from "../store/index.js";
import type { TreeDeps } from "./deps.js";
import { inDisplayOrder } from "./display-order.js";
import { workspaceNotFound } from "./errors.js";
import { folderToWire, placementOf, threadToWire } from "./wire.js";

/** More than a person looks through, and than one answer can hold many times over. */
const MOST_THREADS = 50_000;

/** The tree of a workspace in one consistent state: a few queries, however large it is. */
export async function readTree(
  deps: TreeDeps,
  params: ParsedParams<"thread/tree">,
  mostThreads = MOST_THREADS,
): Promise<Result<"thread/tree">> {
  const { workspace_id } = params;
  return deps.store.read(function* () {
    const workspace = yield* workspaces.findWorkspace(workspace_id);
    if (!workspace) throw workspaceNotFound(workspace_id);
    const { rows, truncated } = yield* threads.listTreeThreads(workspace_id, mostThreads);
    const folderRows = yield* folders.listFolders(workspace_id);
    const docRows = yield* agentsDocs.listDocSummaries({ workspace_id });
    const shown = inDisplayOrder(folderRows, rows, docRows);
    return {
      workspace_id,
      threads: shown.threads.map(threadToWire),
      folders: shown.folders.map(folderToWire),
      placements: shown.threads.map(placementOf),
      agents_docs: shown.docs.map(docSummaryToWire),
      seq: workspace.seq,
      ...(truncated && { truncated }),
    };
  });
}

export function docSummaryToWire(row: agentsDocs.AgentsDocSummaryRow): AgentsDocSummary {
  const { id, workspace_id, folder_id, status, content_sha256, version, char_count, updated_at } = row;
  return {
    id,
    workspace_id,
    ...(folder_id !== null && { folder_id }),
    status,
    content_sha256,
    version,
    char_count,
    updated_at,
  };
}
