import { threads, type Unit, workspaces } from "../../store/index.js";
import type { TreeDeps } from "../deps.js";
import { threadNotFound, treeError, workspaceNotFound } from "../errors.js";

export interface ThreadRef {
  readonly thread_id: string;
  readonly workspace_id?: string | undefined;
}

export function* findThread(
  ref: ThreadRef,
  state: threads.ThreadState = "living",
): Unit<threads.PlacedThreadRow> {
  const { thread_id, workspace_id } = ref;
  const rows = yield* threads.findThreads(thread_id, state, workspace_id);
  const [row, other] = rows;
  if (!row) {
    const known = workspace_id === undefined || (yield* workspaces.findWorkspace(workspace_id));
    throw known ? threadNotFound(thread_id) : workspaceNotFound(workspace_id);
  }
  if (!other) return row;
  const workspace_ids = rows.map((each) => each.workspace_id);
  throw treeError(
    { kind: "thread.ambiguous", thread_id, workspace_ids },
    `Several workspaces have a thread ${thread_id}: give workspace_id too.`,
  );
}

/** The workspace of a thread that was named without it. */
export async function workspaceOfThread(
  deps: Pick<TreeDeps, "store">,
  ref: ThreadRef,
  state: threads.ThreadState = "living",
): Promise<string> {
  if (ref.workspace_id !== undefined) return ref.workspace_id;
  return (await deps.store.read(() => findThread(ref, state))).workspace_id;
}
