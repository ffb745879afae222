import type { TrustRow } from "../schema.js";
import { query, type Unit } from "../unit.js";

/** Whether each of these contents is trusted; nothing at all needs no trust. */
export function* isTrusted(workspace_id: string, kind: string, hashes: readonly string[]): Unit<boolean> {
  const asked = new Set(hashes);
  if (asked.size === 0) return true;
  const rows = yield* query(({ db }) =>
    db
      .selectFrom("trust")
      .select("content_sha256")
      .where("workspace_id", "=", workspace_id)
      .where("kind", "=", kind)
      .where("content_sha256", "in", [...asked]),
  );
  return rows.length === asked.size;
}

/** Whether anything of a kind was ever trusted. */
export function* wasTrusted(workspace_id: string, kind: string): Unit<boolean> {
  const rows = yield* query(({ db }) =>
    db
      .selectFrom("trust")
      .select("content_sha256")
      .where("workspace_id", "=", workspace_id)
      .where("kind", "=", kind)
      .limit(1),
  );
  return rows.length > 0;
}

/** The living workspaces in which something of one of these kinds is trusted. */
export function* workspacesWithTrust(kinds: readonly string[]): Unit<string[]> {
  const rows = yield* query(({ db }) =>
    db
      .selectFrom("trust")
      .innerJoin("workspace", "workspace.id", "trust.workspace_id")
      .select("trust.workspace_id")
      .distinct()
      .where("trust.kind", "in", [...kinds])
      .where("workspace.deleted_at", "is", null),
  );
  return rows.map(({ workspace_id }) => workspace_id);
}

/** Trusting the same content again keeps the time it was first trusted. */
export function* saveTrust(row: TrustRow): Unit<void> {
  yield* query(({ db }) =>
    db
      .insertInto("trust")
      .values(row)
      .onConflict((conflict) => conflict.columns(["workspace_id", "kind", "content_sha256"]).doNothing()),
  );
}

/** Takes back all trust of a kind. */
export function* removeTrust(workspace_id: string, kind: string): Unit<void> {
  yield* query(({ db }) =>
    db.deleteFrom("trust").where("workspace_id", "=", workspace_id).where("kind", "=", kind),
  );
}
