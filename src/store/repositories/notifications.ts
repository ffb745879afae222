import type { NotificationRow } from "../schema.js";
import { emit, first, insertRows, prepared, query, type Unit } from "../unit.js";

/** How many notifications of a workspace can be replayed; a client further behind reads the tree again. */
export const NOTIFICATIONS_KEPT = 2_000;
const PRUNE_EVERY = 100;

export interface Announcement {
  readonly method: string;
  readonly params: object;
}

const raiseSeq = prepared<{ id: string; by: number }, { seq: number }>(({ db }, arg) =>
  db
    .updateTable("workspace")
    .set(({ eb }) => ({ seq: eb("seq", "+", arg("by")) }))
    .where("id", "=", arg("id"))
    .returning("seq"),
);

const insert = insertRows("notification", ["workspace_id", "seq", "method", "params", "created_at"]);

/** Numbers notifications, writes them to the log and tells clients of them once the unit is committed. */
export function* announce(
  workspace_id: string,
  at: number,
  announcements: readonly Announcement[],
): Unit<void> {
  if (announcements.length === 0) return;
  const [raised] = yield* raiseSeq({ id: workspace_id, by: announcements.length });
  const last = raised?.seq ?? 0;
  const first = last - announcements.length + 1;
  const rows = announcements.map(({ method, params }, index): NotificationRow => {
    const seq = first + index;
    return { workspace_id, seq, method, params: JSON.stringify({ ...params, seq }), created_at: at };
  });
  yield* insert(rows);
  for (const { seq, method, params } of rows) yield* emit({ workspace_id, seq, method, params });
  if (Math.floor(last / PRUNE_EVERY) > Math.floor((last - announcements.length) / PRUNE_EVERY)) {
    yield* query(({ db }) =>
      db
        .deleteFrom("notification")
        .where("workspace_id", "=", workspace_id)
        .where("seq", "<=", last - NOTIFICATIONS_KEPT),
    );
  }
}

export interface NotificationRange {
  readonly seq: number;
  /** The oldest that can still be replayed; undefined when there is none. */
  readonly oldest: number | undefined;
}

export function* notificationRange(workspace_id: string): Unit<NotificationRange | undefined> {
  const workspace = yield* first(({ db }) =>
    db.selectFrom("workspace").select("seq").where("id", "=", workspace_id).where("deleted_at", "is", null),
  );
  if (!workspace) return undefined;
  const row = yield* first(({ db }) =>
    db
      .selectFrom("notification")
      .select("seq")
      .where("workspace_id", "=", workspace_id)
      .orderBy("seq")
      .limit(1),
  );
  return { seq: workspace.seq, oldest: row?.seq };
}

const selectAfter = prepared<{ workspace_id: string; after: number; limit: number }, NotificationRow>(
  ({ db }, arg) =>
    db
      .selectFrom("notification")
      .selectAll()
      .where("workspace_id", "=", arg("workspace_id"))
      .where("seq", ">", arg("after"))
      .orderBy("seq")
      .limit(arg("limit")),
);

export function* notificationsAfter(
  workspace_id: string,
  after: number,
  limit: number,
): Unit<NotificationRow[]> {
  return yield* selectAfter({ workspace_id, after, limit });
}
