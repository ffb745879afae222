import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { purgeAside } from "../atsf/index.js";
import { unixSeconds } from "../base/index.js";
import { threadFiles, type WorkspaceRow, workspaces } from "../store/index.js";
import { purgeDeleted } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { threadsDirOf } from "./files/find.js";
import { pageThrough } from "./files/page-through.js";
import { removeFromTrash, sweepTrash } from "./files/trash.js";

const KEPT_SECONDS = 30 * 24 * 3600;
const BATCH = 500;

/** Removes for good what was deleted or cleared more than 30 days ago: files first, then what the index knows of them. */
export async function purgeThreads(deps: ThreadsDeps): Promise<void> {
  const before = unixSeconds(deps.clock) - KEPT_SECONDS;
  await purgeTrash(deps, before);
  await purgeWorkspaceFiles(deps, before);
  await purgeDeleted(deps);
  await purgeCleared(deps, before * 1000);
}

async function purgeTrash(deps: ThreadsDeps, before: number): Promise<void> {
  for (;;) {
    const rows = await deps.store.read(() => threadFiles.deletedBefore(before, BATCH));
    for (const row of rows)
      await deps.files.turn(row.workspace_id, row.id, () => purgeOne(deps, row, before));
    if (rows.length < BATCH) return;
  }
}

/** Looked at again in its turn: it may have been brought back a moment ago. */
async function purgeOne(
  deps: ThreadsDeps,
  { workspace_id, id }: { workspace_id: string; id: string },
  before: number,
): Promise<void> {
  const row = await deps.store.read(() => threadFiles.findIndexed(workspace_id, id));
  if (!row || row.deleted_at === null || row.deleted_at >= before) return;
  await removeFromTrash(deps, { workspace_id, thread_id: id });
  await deps.store.write({ key: workspace_id }, () => threadFiles.removeThread(workspace_id, id));
}

/** A deleted workspace without a project leaves its own directory with it; a project's files are never touched. */
async function purgeWorkspaceFiles(deps: ThreadsDeps, before: number): Promise<void> {
  const rows = await deps.store.read(() => workspaces.workspacesDeletedBefore(before));
  for (const { id } of rows) {
    await rm(deps.files.directoryOf({ id, root_path: null }), { recursive: true, force: true });
    await rm(deps.files.trashOf(id), { recursive: true, force: true });
  }
}

async function purgeCleared(deps: ThreadsDeps, beforeMs: number): Promise<void> {
  const rows = await deps.store.read(() => workspaces.listWorkspaces(ALL));
  for (const workspace of rows) {
    await sweepTrash(deps, workspace.id, beforeMs);
    for (const root of await rootsOf(deps, workspace)) await purgeAsideIn(threadsDirOf(root), beforeMs);
  }
}

/** The project's own directory, and the worktrees its threads stand in. */
async function rootsOf(deps: ThreadsDeps, workspace: WorkspaceRow): Promise<Set<string>> {
  const roots = new Set([deps.files.directoryOf(workspace)]);
  for await (const { file_root } of pageThrough(deps, workspace.id, threadFiles.pageOfFileStates))
    if (file_root !== null) roots.add(file_root);
  return roots;
}

async function purgeAsideIn(dir: string, beforeMs: number): Promise<void> {
  for (const name of await readdir(dir).catch(() => [])) {
    if (!name.startsWith(".")) await purgeAside(join(dir, name), beforeMs).catch(() => {});
  }
}

const ALL = 10_000;
