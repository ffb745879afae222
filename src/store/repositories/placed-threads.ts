import type { ThreadRow } from "../schema.js";
import type { Sql } from "../unit.js";

/** What lists show of a thread; what is known of its files is read only where it is needed. */
const SHOWN = [
  "id",
  "workspace_id",
  "title",
  "agent_id",
  "status",
  "pinned_at",
  "last_snippet",
  "message_count",
  "worktree_path",
  "worktree_branch",
  "parent_thread_id",
  "attributes",
  "config",
  "setup",
  "granted_tools",
  "read_only",
  "created_at",
  "updated_at",
  "deleted_at",
] as const;

/** A thread with the place it has in the tree; a thread without a placement is at the root. */
export interface PlacedThreadRow extends Pick<ThreadRow, (typeof SHOWN)[number]> {
  folder_id: string | null;
  rank: number | null;
}

export const shown = SHOWN.map((column) => `t.${column}` as const);

export function placedThreads({ db }: Sql) {
  return db
    .selectFrom("thread as t")
    .leftJoin("thread_placement as p", (join) =>
      join.onRef("p.workspace_id", "=", "t.workspace_id").onRef("p.thread_id", "=", "t.id"),
    )
    .select(shown)
    .select(["p.folder_id", "p.rank"]);
}
