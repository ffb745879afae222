import { type AgentsDocRow, agentsDocs, type Unit } from "../store/index.js";
import { folderNotFound, requireWorkspace } from "../tree/index.js";

/** Where a document can stand: a folder, or the root of the tree. */
export interface Scope {
  readonly workspace_id: string;
  readonly folder_id: string | null;
}

export interface ScopeState {
  /** The explicit document, draft or active. */
  readonly explicit: AgentsDocRow | undefined;
  /** The way to the root with what the scope would inherit if it had no document of its own. */
  readonly above: agentsDocs.Walk;
}

/** A scope that is about to change: checked, and locked until the unit ends. */
export function* openScope({ workspace_id, folder_id }: Scope): Unit<ScopeState> {
  yield* requireWorkspace(workspace_id);
  const above = (yield* agentsDocs.walkToRoot(workspace_id, { folder_id }, 1)) as agentsDocs.Walk;
  if (above.subject === null) throw folderNotFound(folder_id ?? "");
  return { explicit: yield* agentsDocs.findExplicitDoc(workspace_id, folder_id), above };
}

/** What is in effect in a scope with this explicit document: its own if that has text, else what it inherits. */
export function inEffect(above: agentsDocs.Walk, explicit: AgentsDocRow | undefined): agentsDocs.Walk {
  return explicit?.status === "active" ? { ...above, nearest: { doc: explicit, level: 0 } } : above;
}

/** Whether another document, or another text of the same one, is in effect. */
export function effectDiffers(before: agentsDocs.Walk, after: agentsDocs.Walk): boolean {
  const [old, now] = [before.nearest?.doc, after.nearest?.doc];
  return old?.id !== now?.id || old?.content_sha256 !== now?.content_sha256;
}
