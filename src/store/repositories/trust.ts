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
