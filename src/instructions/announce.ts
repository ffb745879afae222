import type { NotificationParams } from "../protocol/index.js";
import type { AgentsDocRow, agentsDocs, notifications } from "../store/index.js";
import type { Scope } from "./scope.js";
import { effectDiffers } from "./scope.js";
import { docToWire, effectiveField } from "./wire.js";

interface Change {
  readonly doc: AgentsDocRow | undefined;
  readonly before: agentsDocs.Walk;
  readonly after: agentsDocs.Walk;
}

/** The notification that a scope's document, or what is in effect there, changed. */
export function docChanged(scope: Scope, change: Change, now: number): notifications.Announcement {
  const params: Omit<NotificationParams<"thread/agents_doc/changed">, "seq"> = {
    workspace_id: scope.workspace_id,
    ...(scope.folder_id !== null && { folder_id: scope.folder_id }),
    ...(change.doc && { doc: docToWire(change.doc) }),
    ...effectiveField(change.after, now),
    effective_changed: effectDiffers(change.before, change.after),
  };
  return { method: "thread/agents_doc/changed", params };
}
