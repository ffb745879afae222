import type { Thread } from "../protocol/index.js";
import { runs, threadFiles } from "../store/index.js";
import { startRun } from "./admit.js";
import type { RunsDeps } from "./deps.js";

/**
 * Asks what a project wants asked in a new worktree, once that is set up. Nobody waits for it; whoever has asked something
 * before comes first, and then it is not asked at all.
 */
export function sendInitialPrompt(deps: RunsDeps, { workspace_id, id: thread_id, setup }: Thread): void {
  const content = setup?.initial_prompt;
  if (setup?.status !== "running" || content === undefined || content.trim() === "") return;
  const key = { workspace_id, thread_id };
  const send = async () => {
    await deps.setups.ended(workspace_id, thread_id);
    if (deps.sessions.closing || !(await isReady(deps, key))) return;
    await startRun(deps, { ...key, content, config: undefined, idempotency_key: "initial_prompt" }, {});
  };
  send().catch((error) => deps.report(error, "a project's first prompt could not be sent"));
}

async function isReady(deps: RunsDeps, key: { workspace_id: string; thread_id: string }): Promise<boolean> {
  return deps.store.read(function* () {
    const row = yield* threadFiles.findIndexed(key.workspace_id, key.thread_id);
    if (!row || row.deleted_at !== null || row.message_count > 0) return false;
    // A step that failed skips the rest of the set-up, and this is the last of it.
    if (row.setup === null || JSON.parse(row.setup).status !== "done") return false;
    return (yield* runs.lastRunNumber(key)) === 0;
  });
}
