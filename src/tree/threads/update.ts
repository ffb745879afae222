import { unixSeconds } from "../../base/index.js";
import type { ParsedParams, Result } from "../../protocol/index.js";
import { type ThreadRow, threads } from "../../store/index.js";
import type { Call, TreeDeps } from "../deps.js";
import { treeError } from "../errors.js";
import { threadToWire } from "../wire.js";
import { requireWorkspace } from "../workspaces/get.js";
import { announceThread } from "./announce.js";
import { foldTitle, mergeJson } from "./fields.js";
import { findThread, workspaceOfThread } from "./locate.js";

const MAX_ATTRIBUTES_CHARS = 65_536;

export async function updateThread(
  deps: TreeDeps,
  params: ParsedParams<"thread/update">,
  call: Call,
): Promise<Result<"thread/update">> {
  const workspace_id = await workspaceOfThread(deps, params);
  return deps.store.write({ key: workspace_id, origin: call.origin }, function* () {
    yield* requireWorkspace(workspace_id);
    const row = yield* findThread({ workspace_id, thread_id: params.thread_id });
    const now = unixSeconds(deps.clock);
    const changes = changedFields(row, params, now);
    if (Object.keys(changes).length === 0) return { thread: threadToWire(row) };
    const updated = yield* threads.updateThread(workspace_id, row.id, { ...changes, updated_at: now });
    const { folder_id, rank } = row;
    return { thread: yield* announceThread({ ...updated, folder_id, rank }, now, { moved: false }) };
  });
}

function changedFields(
  row: ThreadRow,
  params: ParsedParams<"thread/update">,
  now: number,
): Partial<ThreadRow> {
  const changes: Partial<ThreadRow> = {};
  const { title, pinned } = params;
  if (title !== undefined && title !== row.title)
    Object.assign(changes, { title, title_search: foldTitle(title) });
  if (pinned !== undefined && pinned !== (row.pinned_at !== null)) changes.pinned_at = pinned ? now : null;
  const attributes = mergeJson(row.attributes, params.attributes);
  if (attributes !== row.attributes) changes.attributes = attributes;
  if ((attributes?.length ?? 0) > MAX_ATTRIBUTES_CHARS) {
    throw treeError(
      { kind: "thread.attributes_too_large", limit: MAX_ATTRIBUTES_CHARS },
      `A thread's attributes may take ${MAX_ATTRIBUTES_CHARS} characters of JSON.`,
    );
  }
  const config = mergeJson(row.config, params.config);
  if (config !== row.config) changes.config = config;
  return changes;
}
