import { sql, type Updateable } from "kysely";
import type { ArtifactCallRow, ArtifactRow } from "../schema.js";
import { first, prepared, query, type Sql, type Unit } from "../unit.js";

type Kind = ArtifactRow["kind"];

/** An artifact as it is read. */
export type StoredArtifact = Omit<ArtifactRow, "search">;
/** One without its text, which can be long. */
export type ArtifactSummary = Omit<StoredArtifact, "body">;

const SUMMARY = [
  "id",
  "workspace_id",
  "kind",
  "name",
  "tags",
  "version",
  "created_at",
  "updated_at",
  "deleted_at",
] as const;

export function* insertArtifact(row: ArtifactRow): Unit<void> {
  yield* query(({ db }) => db.insertInto("artifact").values(row));
}

export function* updateArtifact(id: string, changes: Updateable<ArtifactRow>): Unit<StoredArtifact> {
  const row = yield* first(({ db }) =>
    db
      .updateTable("artifact")
      .set(changes)
      .where("id", "=", id)
      .returning([...SUMMARY, "body"]),
  );
  return row as StoredArtifact;
}

/** Also one that was deleted. */
export function* findArtifact(
  workspace_id: string,
  kind: Kind,
  id: string,
): Unit<StoredArtifact | undefined> {
  return yield* first(({ db }) =>
    db
      .selectFrom("artifact")
      .select([...SUMMARY, "body"])
      .where("id", "=", id)
      .where("workspace_id", "=", workspace_id)
      .where("kind", "=", kind),
  );
}

export interface Named {
  readonly workspace_id: string;
  readonly kind: Kind;
  readonly name: string;
  readonly deleted?: boolean;
  readonly limit: number;
}

/** Those of exactly this name, the oldest first. */
export function* artifactsNamed({ workspace_id, kind, name, deleted, limit }: Named): Unit<StoredArtifact[]> {
  return yield* query(({ db }) =>
    db
      .selectFrom("artifact")
      .select([...SUMMARY, "body"])
      .where("workspace_id", "=", workspace_id)
      .where("kind", "=", kind)
      .where("name", "=", name)
      .where("deleted_at", deleted ? "is not" : "is", null)
      .orderBy("id")
      .limit(limit),
  );
}

export interface ArtifactPage {
  readonly workspace_id: string;
  readonly kind: Kind;
  readonly deleted?: boolean | undefined;
  /** Patterns of `like` over the folded text: all of them must fit. */
  readonly patterns?: readonly string[];
  readonly offset: number;
  readonly limit: number;
}

/** Those that fit, by id. */
export function* listArtifacts(page: ArtifactPage): Unit<StoredArtifact[]> {
  return yield* query((s) => pageOf(s, page).select([...SUMMARY, "body"]));
}

/** The same without their texts, but with how many characters they have. */
export function* listArtifactSizes(page: ArtifactPage): Unit<(ArtifactSummary & { chars: number })[]> {
  return yield* query((s) => pageOf(s, page).select([...SUMMARY, sql<number>`length(body)`.as("chars")]));
}

function pageOf({ db }: Sql, page: ArtifactPage) {
  let rows = db
    .selectFrom("artifact")
    .where("workspace_id", "=", page.workspace_id)
    .where("kind", "=", page.kind)
    .where("deleted_at", page.deleted ? "is not" : "is", null);
  for (const pattern of page.patterns ?? [])
    rows = rows.where(sql<boolean>`search like ${pattern} escape '\\'`);
  return rows.orderBy("id").limit(page.limit).offset(page.offset);
}

export function* countArtifacts(workspace_id: string, kind: Kind): Unit<number> {
  const row = yield* first(({ db }) =>
    db
      .selectFrom("artifact")
      .select(({ fn }) => fn.countAll().as("n"))
      .where("workspace_id", "=", workspace_id)
      .where("kind", "=", kind)
      .where("deleted_at", "is", null),
  );
  return Number(row?.n ?? 0);
}

/** What there is in a workspace, by name. Counts are bounded above, so it needs no page. */
export const artifactNames = prepared<{ workspace_id: string }, Pick<ArtifactRow, "id" | "kind" | "name">>(
  ({ db }, arg) =>
    db
      .selectFrom("artifact")
      .select(["id", "kind", "name"])
      .where("workspace_id", "=", arg("workspace_id"))
      .where(sql<boolean>`deleted_at is null`)
      .orderBy("id"),
);

export function* findCall(workspace_id: string, call_key: string): Unit<string | undefined> {
  const row = yield* first(({ db }) =>
    db
      .selectFrom("artifact_call")
      .select("answer")
      .where("workspace_id", "=", workspace_id)
      .where("call_key", "=", call_key),
  );
  return row?.answer;
}

export function* insertCall(row: ArtifactCallRow): Unit<void> {
  yield* query(({ db }) => db.insertInto("artifact_call").values(row));
}

/** Removes for good what was deleted, and forgets the calls that were made, before a time. */
export function* purgeArtifacts(before: number): Unit<void> {
  for (const table of ["artifact_item", "artifact"] as const) {
    yield* query(({ db }) =>
      db.deleteFrom(table).where(sql<boolean>`deleted_at is not null`).where("deleted_at", "<", before),
    );
  }
  yield* query(({ db }) => db.deleteFrom("artifact_call").where("made_at", "<", before));
}
