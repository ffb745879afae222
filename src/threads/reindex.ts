import type { ParsedParams, Result } from "../protocol/index.js";
import { threadFiles } from "../store/index.js";
import type { ThreadsDeps } from "./deps.js";
import type { Follower } from "./files/follow.js";
import { requireDirectory } from "./locate.js";

/** Reads every thread file of a workspace again and makes their words anew. */
export async function reindexWorkspace(
  deps: ThreadsDeps,
  watching: Follower,
  { workspace_id }: ParsedParams<"workspace/reindex">,
): Promise<Result<"workspace/reindex">> {
  await requireDirectory(deps, workspace_id);
  await deps.store.write({ key: workspace_id }, () => threadFiles.forgetWords(workspace_id));
  const tell = (done: number, total: number) =>
    deps.live.tell({ workspace_id, method: "workspace/indexing", params: { workspace_id, done, total } });
  const { added, changed, removed, problems } = await watching.reindex(workspace_id, tell);
  await deps.words.reopen(workspace_id);
  await deps.words.settle(workspace_id);
  const threads = await deps.store.read(() => threadFiles.countThreads(workspace_id));
  return { threads, added, changed, removed, problems: problems.slice(0, MAX_PROBLEMS) };
}

const MAX_PROBLEMS = 1_000;
