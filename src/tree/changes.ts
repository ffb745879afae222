import type { NotificationParams } from "../protocol/index.js";
import { notifications, type Unit } from "../store/index.js";

export type TreeChanges = NonNullable<NotificationParams<"thread/tree/changed">["changes"]>;

/** Past this many, clients do better to read the tree again. */
export const MAX_LISTED = 500;

/** The notification that the tree changed, with what changed unless that is too much. */
export function treeChanged(
  workspace_id: string,
  changes: TreeChanges | undefined,
): notifications.Announcement {
  const listed = Object.values(changes ?? {}).reduce((sum, items) => sum + (items?.length ?? 0), 0);
  const tell = changes !== undefined && listed <= MAX_LISTED;
  return { method: "thread/tree/changed", params: tell ? { workspace_id, changes } : { workspace_id } };
}

export function* announceTree(
  workspace_id: string,
  at: number,
  changes: TreeChanges | undefined,
): Unit<void> {
  yield* notifications.announce(workspace_id, at, [treeChanged(workspace_id, changes)]);
}
