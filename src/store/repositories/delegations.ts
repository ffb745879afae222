import { type RawBuilder, sql } from "kysely";
import type { DelegationRow } from "../schema.js";
import { first, query, type Unit } from "../unit.js";

export function* insertDelegation(row: DelegationRow): Unit<void> {
  yield* query(({ db }) => db.insertInto("delegation").values(row));
}

export function* findDelegation(id: string): Unit<DelegationRow | undefined> {
  return yield* first(({ db }) => db.selectFrom("delegation").selectAll().where("id", "=", id));
}

export function* findDelegationOfRun(run_id: string): Unit<DelegationRow | undefined> {
  return yield* first(({ db }) => db.selectFrom("delegation").selectAll().where("run_id", "=", run_id));
}

/** Nobody waits for it any more: its result comes back by itself. */
export function* leaveDelegation(id: string): Unit<void> {
  yield* query(({ db }) => db.updateTable("delegation").set({ mode: "async" }).where("id", "=", id));
}

/** The same for the one that asked for a run. */
export function* leaveDelegationOfRun(run_id: string): Unit<void> {
  yield* query(({ db }) => db.updateTable("delegation").set({ mode: "async" }).where("run_id", "=", run_id));
}

/** Whether its result is for the one who asks to give back: nobody else does. The workspace must be locked. */
export function* claimResult(id: string, at: number): Unit<boolean> {
  const found = yield* findDelegation(id);
  if (!found || found.returned_at !== null) return false;
  yield* query(({ db }) => db.updateTable("delegation").set({ returned_at: at }).where("id", "=", id));
  return true;
}

/** Whose run has not ended, and that a call was to wait for; the oldest first. */
export function* waitedFor(): Unit<DelegationRow[]> {
  // From the runs that have not ended, by their own indexes: delegations that are over are many.
  const ofRuns = (unfinished: RawBuilder<boolean>) =>
    query(({ db }) =>
      db
        .selectFrom("run")
        .innerJoin("delegation", "delegation.run_id", "run.id")
        .selectAll("delegation")
        .where(unfinished)
        .where("delegation.mode", "=", "sync"),
    );
  const active = yield* ofRuns(sql<boolean>`run.status in ('running', 'waiting')`);
  const queued = yield* ofRuns(sql<boolean>`run.status = 'queued'`);
  return [...active, ...queued].sort((a, b) => a.created_at - b.created_at);
}

/** How many runs were delegated from one. */
export function* countDelegated(run_id: string): Unit<number> {
  const row = yield* first(({ db }) =>
    db
      .selectFrom("run")
      .select(({ fn }) => fn.countAll<number>().as("count"))
      .where("parent_run_id", "=", run_id),
  );
  return Number(row?.count ?? 0);
}

/** Ended, and nobody was told: a gateway was killed in between, or the workspace was gone. Of one that is gone nothing is due. */
export function* unreturned(workspace_id?: string): Unit<DelegationRow[]> {
  return yield* query(({ db }) =>
    db
      .selectFrom("delegation")
      .innerJoin("run", "run.id", "delegation.run_id")
      .innerJoin("workspace", "workspace.id", "delegation.workspace_id")
      .selectAll("delegation")
      .where(sql<boolean>`delegation.returned_at is null and delegation.mode = 'async'`)
      .where("run.last_seq", "is not", null)
      .where("workspace.deleted_at", "is", null)
      .$if(workspace_id !== undefined, (rows) =>
        rows.where("delegation.workspace_id", "=", workspace_id as string),
      )
      .orderBy("delegation.created_at"),
  );
}
