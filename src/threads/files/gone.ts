import { existsSync } from "node:fs";
import { join } from "node:path";
import { unixSeconds } from "../../base/index.js";
import { notifications, type ThreadRow, threadFiles, threads, workspaces } from "../../store/index.js";
import { threadToWire, treeChanged } from "../../tree/index.js";
import { markDeleted } from "../delete.js";
import type { ThreadsDeps } from "../deps.js";
import { ownChanges } from "../metadata.js";
import { threadsDirOf } from "./find.js";
import { type FilesOf, reflect } from "./reflect.js";
import { isDirectory, isOutOfSight } from "./thread-files.js";
import { isInTrash } from "./trash.js";

/**
 * What becomes of a thread whose files are not where the index says. One whose whole worktree or project is away stays
 * listed, from what the index remembers; one that was deleted leaves the lists. Answers whether it did. The caller has
 * the thread's turn.
 */
export async function reflectGone(
  deps: ThreadsDeps,
  workspace: FilesOf["workspace"],
  thread_id: string,
): Promise<boolean> {
  const workspace_id = workspace.id;
  const row = await deps.store.read(() => threadFiles.findIndexed(workspace_id, thread_id));
  if (!row || row.deleted_at !== null) return false;
  const main = deps.files.directoryOf(workspace);
  const root = row.file_root ?? main;
  const dir = join(threadsDirOf(root), thread_id);
  if (existsSync(dir) || ((await isDirectory(root)) && isOutOfSight(dir))) return false;
  if (row.envelope_stamp === null) return restoreFiles(deps, workspace, row);
  if (await isInTrash(deps, { workspace_id, thread_id })) {
    await markDeleted(deps, { workspace_id, thread_id });
    return true;
  }
  // Its worktree is being removed: what stood there is in the project already.
  if (root !== main && (await isDirectory(join(threadsDirOf(main), thread_id)))) {
    await reflect(deps, { workspace, thread_id, root: main });
    return false;
  }
  // Whoever deletes a worktree deletes its `.agent` at some moment before the rest.
  if (!(await isDirectory(row.file_root === null ? root : threadsDirOf(root)))) {
    if (row.file_root !== null) await markReadOnly(deps, row, `its worktree ${root} is gone`);
    return false;
  }
  await takeOut(deps, row);
  return true;
}

export async function markReadOnly(
  deps: ThreadsDeps,
  row: threadFiles.IndexedThreadRow,
  read_only: string,
): Promise<void> {
  if (row.read_only === read_only) return;
  const { workspace_id, id } = row;
  await deps.store.write({ key: workspace_id }, function* () {
    if (!(yield* workspaces.lockWorkspace(workspace_id))) return;
    // No file has this stamp: when the files are back as they were, they are read again.
    yield* threads.updateThread(workspace_id, id, { read_only, envelope_stamp: "unread" });
    const thread = threadToWire({ ...row, read_only });
    yield* notifications.announce(workspace_id, unixSeconds(deps.clock), [
      { method: "thread/changed", params: { thread } },
      treeChanged(workspace_id, { threads: [thread] }),
    ]);
  });
}

/** Takes a thread out of the index; its files, where there are any, stay. */
export async function takeOut(
  deps: ThreadsDeps,
  { workspace_id, id: thread_id }: Pick<ThreadRow, "workspace_id" | "id">,
): Promise<void> {
  await deps.store.write({ key: workspace_id }, function* () {
    if (!(yield* workspaces.lockWorkspace(workspace_id))) return;
    yield* threadFiles.removeThread(workspace_id, thread_id);
    yield* notifications.announce(workspace_id, unixSeconds(deps.clock), [
      { method: "thread/deleted", params: { workspace_id, thread_id } },
      treeChanged(workspace_id, { removed_ids: [thread_id] }),
    ]);
  });
}

/** A thread from before threads had files: it gets them now. */
async function restoreFiles(
  deps: ThreadsDeps,
  workspace: FilesOf["workspace"],
  row: ThreadRow,
): Promise<false> {
  const root = await deps.files.ensureDirectory(workspace);
  const isoOf = (seconds: number) => new Date(seconds * 1000).toISOString();
  const project = await deps.files.project(root);
  const thread = await project.create({
    threadId: row.id,
    title: row.title,
    agent: {
      id: row.agent_id,
      name: deps.agents.in(row.workspace_id).nameOf(row.agent_id) ?? row.agent_id,
      protocol: "custom",
    },
    createdAt: isoOf(row.created_at),
  });
  await thread.change(
    ownChanges({
      updatedAt: isoOf(row.updated_at),
      named: true,
      ...(row.pinned_at !== null && { pinnedAt: isoOf(row.pinned_at) }),
      ...(row.attributes !== null && { attributes: JSON.parse(row.attributes) }),
      ...(row.config !== null && { config: JSON.parse(row.config) }),
    }),
  );
  await reflect(deps, { workspace, thread_id: row.id, root });
  return false;
}
