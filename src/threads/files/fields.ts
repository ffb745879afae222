import { existsSync } from "node:fs";
import type { ThreadEnvelope } from "../../atsf/index.js";
import type { ThreadRow } from "../../store/index.js";
import { foldTitle } from "../../tree/index.js";
import { ownOf } from "../metadata.js";
import { storable } from "../text.js";
import type { LogLook } from "./look.js";

const MAX_TITLE = 1_000;
/** More than any agent's id has; PostgreSQL can't look up what is much longer. */
const MAX_AGENT_ID = 255;
const MAX_ATTRIBUTES_CHARS = 65_536;

/** The columns of the index that come from `thread.json`. */
export function fieldsOf(
  thread_id: string,
  envelope: ThreadEnvelope,
  file_root: string | null,
): Partial<ThreadRow> {
  const own = ownOf(envelope);
  const worktree = worktreeOf(envelope, file_root);
  const title = storable(envelope.title.slice(0, MAX_TITLE));
  return {
    title,
    title_search: foldTitle(title),
    agent_id: storable(envelope.agent.id.slice(0, MAX_AGENT_ID)),
    pinned_at: own?.pinnedAt === undefined ? null : secondsOf(own.pinnedAt),
    worktree_path: worktree ? storable(worktree.path) : null,
    worktree_branch: worktree ? storable(worktree.branch) : null,
    parent_thread_id: own?.parentThreadId ?? null,
    attributes: jsonOf(own?.attributes),
    config: jsonOf(own?.config),
    named: own === undefined || own.named ? 1 : 0,
    own_stamp: own?.updatedAt ?? null,
    file_folder: own?.folder ? JSON.stringify(own.folder) : null,
    created_at: secondsOf(envelope.createdAt),
    read_only:
      envelope.threadId === thread_id
        ? null
        : storable(`its directory is called ${thread_id}, but thread.json says ${envelope.threadId}`),
  };
}

/** What the file says of a worktree is from the day it was made: it may have moved since, or be gone. */
function worktreeOf({ context }: ThreadEnvelope, file_root: string | null) {
  if (!context.worktree) return undefined;
  const path = file_root ?? context.worktree.path;
  return existsSync(path) ? { path, branch: context.worktree.branch } : undefined;
}

/** The columns that come from the log. */
export function logFieldsOf(log: LogLook): Partial<ThreadRow> {
  const { log_stamp, log_size, log_tail, message_count, snippet, replaced } = log;
  return {
    log_stamp,
    log_size,
    log_tail,
    message_count,
    ...((snippet !== undefined || replaced) && { last_snippet: snippet ?? null }),
    ...(replaced && { words_to: 0, history_to: null }),
  };
}

export function secondsOf(time: string): number {
  return Math.floor(Date.parse(time) / 1000);
}

function jsonOf(value: object | undefined): string | null {
  if (value === undefined || Object.keys(value).length === 0) return null;
  const text = JSON.stringify(value);
  return text.length > MAX_ATTRIBUTES_CHARS ? null : text;
}
