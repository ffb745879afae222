import { join } from "node:path";
import { moveDirectory, type Project } from "../../atsf/index.js";
import type { WorkspaceRow } from "../../store/index.js";
import type { ThreadsDeps } from "../deps.js";
import { namesOrUnread, threadsDirOf, type Unread } from "./find.js";
import { makeThreadsDirectory } from "./make-threads-dir.js";
import { isDirectory } from "./thread-files.js";

/**
 * Moves threads from a workspace's own directory under the data directory into the project it is bound to by now. Looked
 * for at every look at the workspace: a crash in the middle leaves none behind. Answers with the directory where it can't
 * be read: threads that the index knows may stand there.
 */
export async function bringAlong(
  deps: ThreadsDeps,
  { id, root_path }: Pick<WorkspaceRow, "id" | "root_path">,
): Promise<Unread | undefined> {
  if (root_path === null) return undefined;
  const from = deps.files.directoryOf({ id, root_path: null });
  const names = await namesOrUnread(from);
  if (!Array.isArray(names)) return names;
  const ids = names.filter((name) => !name.startsWith("."));
  if (ids.length === 0) return undefined;
  await makeThreadsDirectory(root_path);
  const project = await deps.files.project(from);
  for (const thread_id of ids) {
    await deps.files
      .turn(id, thread_id, () => bringOne(project, thread_id, root_path))
      .catch((error) => deps.report(error, "a thread could not be moved into the project"));
  }
  await deps.files.forget(from);
  return undefined;
}

/** While nobody else writes to it. One that is there already stays where it is, and is told of by its owner. */
async function bringOne(project: Project, thread_id: string, root_path: string): Promise<void> {
  const from = join(threadsDirOf(project.root), thread_id);
  const to = join(threadsDirOf(root_path), thread_id);
  if ((await isDirectory(to)) || !(await isDirectory(from))) return;
  await project.locked(from, () => moveDirectory(from, to));
  project.forget(thread_id);
}
