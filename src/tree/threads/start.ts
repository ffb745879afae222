import { unixSeconds } from "../../base/index.js";
import { ID_PREFIXES, type ParsedParams, type Result } from "../../protocol/index.js";
import { type ThreadRow, threads } from "../../store/index.js";
import type { Call, TreeDeps } from "../deps.js";
import { treeError } from "../errors.js";
import { requireFolder } from "../folders/limits.js";
import { findRank } from "../place.js";
import { requireWorkspace } from "../workspaces/get.js";
import { announceThread } from "./announce.js";
import { foldTitle, mergeJson } from "./fields.js";

const DEFAULT_TITLE = "New thread";
const DEFAULT_AGENT = "demo";

export async function startThread(
  deps: TreeDeps,
  params: ParsedParams<"thread/start">,
  call: Call,
): Promise<Result<"thread/start">> {
  const { workspace_id } = params;
  if (params.use_worktree) {
    throw treeError(
      { kind: "thread.worktree_unsupported", workspace_id },
      "This version of Heddle can't start a thread in a worktree. Leave use_worktree out.",
    );
  }
  return deps.store.write({ key: workspace_id, origin: call.origin }, function* () {
    yield* requireWorkspace(workspace_id);
    const folder_id = params.folder_id ?? null;
    if (folder_id !== null) yield* requireFolder(workspace_id, folder_id);
    const row = newThread(deps, params);
    const siblings = { table: "thread_placement", workspace_id, parent_id: folder_id } as const;
    const { rank } = yield* findRank({ siblings, after_id: undefined, otherwise: "first", id: row.id });
    yield* threads.insertThread(row, { workspace_id, thread_id: row.id, folder_id, rank });
    return { thread: yield* announceThread({ ...row, folder_id, rank }, row.created_at, { moved: true }) };
  });
}

function newThread(deps: TreeDeps, params: ParsedParams<"thread/start">): ThreadRow {
  const now = unixSeconds(deps.clock);
  const title = params.title ?? DEFAULT_TITLE;
  return {
    id: deps.makeId(ID_PREFIXES.thread),
    workspace_id: params.workspace_id,
    title,
    title_search: foldTitle(title),
    agent_id: params.agent_id ?? DEFAULT_AGENT,
    status: "idle",
    pinned_at: null,
    last_snippet: null,
    message_count: 0,
    worktree_path: null,
    worktree_branch: null,
    parent_thread_id: null,
    attributes: null,
    config: mergeJson(null, params.config),
    created_at: now,
    updated_at: now,
    deleted_at: null,
  };
}
