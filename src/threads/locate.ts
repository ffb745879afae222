import type { Thread as ThreadFile } from "../atsf/index.js";
import {
  type threadFiles as files,
  threadFiles,
  type Unit,
  type WorkspaceRow,
  workspaces,
} from "../store/index.js";
import { findThread, threadNotFound, workspaceNotFound } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { threadsError } from "./errors.js";
import type { FilesOf } from "./files/reflect.js";

export interface ThreadRef {
  readonly thread_id: string;
  readonly workspace_id?: string | undefined;
}

export interface LocatedThread extends FilesOf {
  readonly workspace: Pick<WorkspaceRow, "id" | "root_path">;
  readonly row: files.IndexedThreadRow;
}

/** A thread the index knows, with where its files are. */
export async function locateThread(
  deps: ThreadsDeps,
  ref: ThreadRef,
  state: "living" | "deleted" = "living",
): Promise<LocatedThread> {
  return deps.store.read(() => locate(deps, ref, state));
}

/** The same for what is only told of after a commit of its own. */
export async function locateAhead(deps: ThreadsDeps, ref: ThreadRef): Promise<LocatedThread> {
  return deps.store.readAhead(() => locate(deps, ref, "living"));
}

function* locate(deps: ThreadsDeps, ref: ThreadRef, state: "living" | "deleted"): Unit<LocatedThread> {
  const { thread_id } = ref;
  const workspace_id = ref.workspace_id ?? (yield* findThread(ref, state)).workspace_id;
  const row = yield* threadFiles.findLocated(workspace_id, thread_id);
  if (!row && !(yield* workspaces.findWorkspace(workspace_id))) throw workspaceNotFound(workspace_id);
  if (!row || (row.deleted_at === null) !== (state === "living")) throw threadNotFound(thread_id);
  const workspace = { id: workspace_id, root_path: row.workspace_root };
  return { workspace, thread_id, row, root: row.file_root ?? deps.files.directoryOf(workspace) };
}

export async function requireDirectory(
  deps: ThreadsDeps,
  workspace_id: string,
): Promise<{ workspace: WorkspaceRow; root: string }> {
  const workspace = await deps.store.read(() => workspaces.findWorkspace(workspace_id));
  if (!workspace) throw workspaceNotFound(workspace_id);
  return { workspace, root: await deps.files.ensureDirectory(workspace) };
}

/**
 * Runs work on a thread's files while nobody else here does. Where the thread is is looked up within its turn: it may
 * have moved or gone while this waited.
 */
export async function withThread<T>(
  deps: ThreadsDeps,
  ref: ThreadRef,
  work: (located: LocatedThread, file: ThreadFile) => Promise<T>,
  find: typeof locateAhead = locateThread,
): Promise<T> {
  const { thread_id } = ref;
  const workspace_id = ref.workspace_id ?? (await locateThread(deps, ref)).workspace.id;
  return deps.files.turn(workspace_id, thread_id, async () => {
    const located = await find(deps, { workspace_id, thread_id });
    return work(located, await openFiles(deps, located));
  });
}

/** A thread whose whole project is away is not the same as one whose files are gone. */
export async function openFiles(
  deps: ThreadsDeps,
  { workspace, root, thread_id }: FilesOf,
): Promise<ThreadFile> {
  return deps.files.thread(root, thread_id).catch(async (error) => {
    await deps.files.ensureDirectory(workspace);
    throw error;
  });
}

/** What is read-only in the index must not be written to, whatever its files would allow by now. */
export function assertWritable({ row }: LocatedThread): void {
  if (row.read_only === null) return;
  throw threadsError(
    { kind: "thread.read_only", thread_id: row.id, reason: row.read_only },
    `Nothing can be written to this thread: ${row.read_only}.`,
  );
}
