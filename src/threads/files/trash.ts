import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { moveDirectory } from "../../atsf/index.js";
import { threadFiles } from "../../store/index.js";
import type { ThreadsDeps } from "../deps.js";
import { threadsError } from "../errors.js";
import { makeThreadsDirectory } from "./make-threads-dir.js";
import { pageThrough } from "./page-through.js";
import { isDirectory } from "./thread-files.js";

export interface Binned {
  readonly workspace_id: string;
  readonly thread_id: string;
}

/** Takes a thread's directory out of its project. One deleted earlier under the same id is kept beside it. */
export async function moveToTrash(
  deps: ThreadsDeps,
  { workspace_id, thread_id }: Binned,
  root: string,
): Promise<void> {
  const project = await deps.files.project(root);
  const thread = await project.thread(thread_id);
  const to = trashPath(deps, { workspace_id, thread_id });
  await mkdir(deps.files.trashOf(workspace_id), { recursive: true, mode: 0o700 });
  if (await isDirectory(to)) await rename(to, `${to}~${deps.clock.now()}`);
  await thread.close();
  await project.locked(thread.dir, () => moveDirectory(thread.dir, to));
  project.forget(thread_id);
}

export async function moveFromTrash(deps: ThreadsDeps, binned: Binned, root: string): Promise<void> {
  const from = trashPath(deps, binned);
  const to = join(root, ".agent", "threads", binned.thread_id);
  if (await isDirectory(to)) {
    throw threadsError(
      { kind: "thread.exists", thread_id: binned.thread_id },
      `There is a thread ${binned.thread_id} in ${root} again. Delete or move that one first.`,
    );
  }
  if (!(await isDirectory(from))) {
    throw threadsError(
      { kind: "thread.files_missing", thread_id: binned.thread_id, path: from },
      `The files of this thread are no longer in the bin (${from}), so it can't be brought back.`,
    );
  }
  await makeThreadsDirectory(root);
  await moveDirectory(from, to);
}

export async function isInTrash(deps: ThreadsDeps, binned: Binned): Promise<boolean> {
  return isDirectory(trashPath(deps, binned));
}

export async function removeFromTrash(deps: ThreadsDeps, binned: Binned): Promise<void> {
  await rm(trashPath(deps, binned), { recursive: true, force: true });
}

/** What lies in the bin without the index knowing of it: left by a crash, or replaced by a later one of its id. */
export async function sweepTrash(deps: ThreadsDeps, workspace_id: string, beforeMs: number): Promise<void> {
  const dir = deps.files.trashOf(workspace_id);
  const deleted = new Set<string>();
  for await (const { id, deleted_at } of pageThrough(deps, workspace_id, threadFiles.pageOfFileStates))
    if (deleted_at !== null) deleted.add(id);
  for (const name of await readdir(dir).catch(() => [])) {
    const path = join(dir, name);
    const { ctimeMs } = await stat(path);
    if (!deleted.has(name) && ctimeMs < beforeMs) await rm(path, { recursive: true, force: true });
  }
}

function trashPath(deps: ThreadsDeps, { workspace_id, thread_id }: Binned): string {
  return join(deps.files.trashOf(workspace_id), thread_id);
}
