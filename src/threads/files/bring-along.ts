import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { moveDirectory } from "../../atsf/index.js";
import type { WorkspaceRow } from "../../store/index.js";
import type { ThreadsDeps } from "../deps.js";
import { threadsDirOf } from "./find.js";
import { makeThreadsDirectory } from "./make-threads-dir.js";
import { isDirectory } from "./thread-files.js";

/**
 * Moves threads from a workspace's own directory under the data directory into the project it is bound to by now. Looked
 * for at every look at the workspace: a crash in the middle leaves none behind.
 */
export async function bringAlong(
  deps: ThreadsDeps,
  { id, root_path }: Pick<WorkspaceRow, "id" | "root_path">,
): Promise<void> {
  if (root_path === null) return;
  const from = deps.files.directoryOf({ id, root_path: null });
  const names = await readdir(threadsDirOf(from)).catch(() => []);
  const ids = names.filter((name) => !name.startsWith("."));
  if (ids.length === 0) return;
  await deps.files.forget(from);
  await makeThreadsDirectory(root_path);
  for (const thread_id of ids) {
    const target = join(threadsDirOf(root_path), thread_id);
    if (await isDirectory(target)) continue;
    await moveDirectory(join(threadsDirOf(from), thread_id), target).catch((error) =>
      deps.report(error, "a thread could not be moved into the project"),
    );
  }
}
