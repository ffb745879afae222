import { unixSeconds } from "../base/index.js";
import { threads, workspaces } from "../store/index.js";
import type { TreeDeps } from "./deps.js";

const KEPT_SECONDS = 30 * 24 * 3600;

/** Removes for good what was deleted more than 30 days ago. */
export async function purgeDeleted(deps: Pick<TreeDeps, "store" | "clock">): Promise<void> {
  const before = unixSeconds(deps.clock) - KEPT_SECONDS;
  await deps.store.write({ key: "workspaces" }, function* () {
    yield* threads.purgeThreads(before);
    yield* workspaces.purgeWorkspaces(before);
  });
}
