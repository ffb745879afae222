import type { Thread } from "../../protocol/index.js";
import { notifications, type threads, type Unit } from "../../store/index.js";
import { type TreeChanges, treeChanged } from "../changes.js";
import { placementOf, threadToWire } from "../wire.js";

/** Tells of a thread that was made, changed or moved: first those who show it, then those who show the tree. */
export function* announceThread(
  row: threads.PlacedThreadRow,
  at: number,
  { moved }: { moved: boolean },
): Unit<Thread> {
  const thread = threadToWire(row);
  const changes: TreeChanges = { threads: [thread], ...(moved && { placements: [placementOf(row)] }) };
  yield* notifications.announce(row.workspace_id, at, [
    { method: "thread/changed", params: { thread } },
    treeChanged(row.workspace_id, changes),
  ]);
  return thread;
}
