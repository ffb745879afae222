import type { agentsDocs, FolderRow, threads } from "../store/index.js";

interface Shown {
  readonly folders: FolderRow[];
  readonly threads: threads.PlacedThreadRow[];
  readonly docs: agentsDocs.AgentsDocSummaryRow[];
}

/**
 * The rows as someone sees them who reads the tree from top to bottom: in each folder its document, then its folders with
 * all they hold, then its threads. A parent always stands before its children. Siblings keep the order they come in.
 */
export function inDisplayOrder(
  folderRows: readonly FolderRow[],
  threadRows: readonly threads.PlacedThreadRow[],
  docRows: readonly agentsDocs.AgentsDocSummaryRow[],
): Shown {
  const folders = grouped(folderRows, (row) => row.parent_folder_id);
  const byFolder = grouped(threadRows, (row) => row.folder_id);
  const docs = new Map(docRows.map((row) => [row.folder_id, row]));
  const shown: Shown = { folders: [], threads: [], docs: [] };
  const visit = (scope: string | null): void => {
    const doc = docs.get(scope);
    if (doc) shown.docs.push(doc);
    for (const folder of folders.get(scope) ?? []) {
      shown.folders.push(folder);
      visit(folder.id);
    }
    for (const thread of byFolder.get(scope) ?? []) shown.threads.push(thread);
  };
  visit(null);
  return shown;
}

function grouped<T>(rows: readonly T[], key: (row: T) => string | null): Map<string | null, T[]> {
  const groups = new Map<string | null, T[]>();
  for (const row of rows) {
    const group = groups.get(key(row));
    if (group) group.push(row);
    else groups.set(key(row), [row]);
  }
  return groups;
}
