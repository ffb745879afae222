import { sql } from "kysely";
import type { PromptPackRow, ToolSyncRow } from "../schema.js";
import { first, prepared, query, type Unit } from "../unit.js";

const select = prepared<{ workspace_id: string; pack: string }, PromptPackRow>(({ db }, arg) =>
  db
    .selectFrom("prompt_pack")
    .selectAll()
    .where("workspace_id", "=", arg("workspace_id"))
    .where("pack", "=", arg("pack")),
);

export function* findPack(workspace_id: string, pack: string): Unit<PromptPackRow | undefined> {
  return (yield* select({ workspace_id, pack }))[0];
}

/** Packs of a workspace by name; a workspace has a handful, and never more are answered than this. */
export function* listPacks(workspace_id: string): Unit<PromptPackRow[]> {
  return yield* query(({ db }) =>
    db
      .selectFrom("prompt_pack")
      .selectAll()
      .where("workspace_id", "=", workspace_id)
      .orderBy("pack")
      .limit(1_000),
  );
}

export function* savePack(row: PromptPackRow): Unit<void> {
  yield* query(({ db }) =>
    db
      .insertInto("prompt_pack")
      .values(row)
      .onConflict((conflict) =>
        conflict
          .columns(["workspace_id", "pack"])
          .doUpdateSet({ state: row.state, updated_at: row.updated_at }),
      ),
  );
}

/** Packs whose apply waits for runs to end, wherever they are. What else has those words in it is for the caller to tell. */
export function* packsThatWait(): Unit<Pick<PromptPackRow, "workspace_id" | "pack">[]> {
  return yield* query(({ db }) =>
    db
      .selectFrom("prompt_pack")
      .select(["workspace_id", "pack"])
      .where("state", "like", '%"when_idle"%')
      .orderBy("workspace_id")
      .orderBy("pack"),
  );
}

export interface RunUnderWay {
  readonly id: string;
  readonly workspace_id: string;
  readonly thread_id: string;
  /** The settings of its thread, as JSON text. */
  readonly config: string | null;
}

/** Every run that has begun and not ended: at most one a thread. */
export const runsUnderWay = prepared<object, RunUnderWay>(({ db }) =>
  db
    .selectFrom("run as r")
    .leftJoin("thread as t", (join) =>
      join.onRef("t.workspace_id", "=", "r.workspace_id").onRef("t.id", "=", "r.thread_id"),
    )
    .select(["r.id", "r.workspace_id", "r.thread_id", "t.config"])
    // A literal: the index on such runs is used only when the query says so itself.
    .where(sql<boolean>`r.status in ('running', 'waiting')`)
    .orderBy("r.workspace_id")
    .orderBy("r.thread_id"),
);

/** What every pack's snapshots are made of, as text: blobs that they name must not be collected. */
export function* allPackStates(): Unit<string[]> {
  const rows = yield* query(({ db }) => db.selectFrom("prompt_pack").select("state"));
  return rows.map(({ state }) => state);
}

export function* findToolSync(workspace_id: string): Unit<ToolSyncRow | undefined> {
  return yield* first(({ db }) =>
    db.selectFrom("tool_sync").selectAll().where("workspace_id", "=", workspace_id),
  );
}

export function* saveToolSync(row: ToolSyncRow): Unit<void> {
  const { ref, tools, synced_at } = row;
  yield* query(({ db }) =>
    db
      .insertInto("tool_sync")
      .values(row)
      .onConflict((conflict) => conflict.column("workspace_id").doUpdateSet({ ref, tools, synced_at })),
  );
}

/** The lists of tools that were recorded: blobs that must not be collected. */
export function* allToolSyncRefs(): Unit<string[]> {
  const rows = yield* query(({ db }) => db.selectFrom("tool_sync").select("ref"));
  return rows.map(({ ref }) => ref);
}
