import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { moveDirectory, threadPlaces } from "../atsf/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import { threadFiles, workspaces } from "../store/index.js";
import { type Call, updateWorkspace } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { threadsDirOf } from "./files/find.js";
import type { Follower } from "./files/follow.js";
import { takeOut } from "./files/gone.js";
import { makeThreadsDirectory } from "./files/make-threads-dir.js";
import { isDirectory } from "./files/thread-files.js";

/**
 * Renames a workspace or binds it to another directory. Threads of a workspace that had no project come along into it;
 * those of a project stay in that project.
 */
export async function rebindWorkspace(
  deps: ThreadsDeps,
  watching: Follower,
  params: ParsedParams<"workspace/update">,
  call: Call,
): Promise<Result<"workspace/update">> {
  const before = await deps.store.read(() => workspaces.findWorkspace(params.workspace_id));
  const result = await updateWorkspace(deps, params, call);
  const root_path = result.workspace.root_path ?? null;
  if (!before || before.root_path === root_path) return result;
  watching.forget(before.id);
  const from = deps.files.directoryOf(before);
  if (before.root_path === null && root_path !== null) await bringAlong(deps, from, root_path);
  if (before.root_path !== null && root_path !== null) await leaveBehind(deps, before.id, root_path);
  await deps.files.forget(from);
  await watching.open(before.id);
  return result;
}

/** Threads in worktrees of the project that was left: the index knows them, so they would be found for ever. */
async function leaveBehind(deps: ThreadsDeps, workspace_id: string, root: string): Promise<void> {
  const places = await threadPlaces(root, []);
  const rows = await deps.store.read(() => threadFiles.listFileStates(workspace_id));
  for (const { id, file_root, deleted_at } of rows) {
    if (file_root === null || deleted_at !== null || places.includes(file_root)) continue;
    await deps.files.turn(workspace_id, id, () => takeOut(deps, { workspace_id, id }));
  }
}

async function bringAlong(deps: ThreadsDeps, from: string, to: string): Promise<void> {
  const ids = await readdir(threadsDirOf(from)).catch(() => []);
  await deps.files.forget(from);
  if (ids.length > 0) await makeThreadsDirectory(to);
  for (const id of ids.filter((name) => !name.startsWith("."))) {
    const target = join(threadsDirOf(to), id);
    if (await isDirectory(target)) continue;
    await moveDirectory(join(threadsDirOf(from), id), target).catch((error) =>
      deps.report(error, "a thread could not be moved into the project"),
    );
  }
}
