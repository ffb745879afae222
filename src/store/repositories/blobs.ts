import { sql } from "kysely";
import type { BlobRow } from "../schema.js";
import { prepared, query, type Unit } from "../unit.js";

/** A blob as it is kept, with the number that other rows name it by. */
export interface StoredBlob {
  readonly id: number;
  readonly hash: string;
  readonly content: Uint8Array;
}

export type NewBlob = Pick<BlobRow, "hash" | "content">;

/** Putting it again is remembered at most this often; whoever collects adds it to the time it waits. */
const PUT_GRAIN_SECONDS = 3_600;
/** A blob stays this long after it was last put, whether or not anything refers to it. */
export const KEPT_SECONDS = 24 * 3_600;

interface KnownBlob {
  readonly id: number;
  readonly put_at: number;
}

const insert = prepared<Omit<BlobRow, "id">, { id: number }>(({ db }, arg) =>
  db
    .insertInto("blob")
    .values({ hash: arg("hash"), size: arg("size"), content: arg("content"), put_at: arg("put_at") })
    .onConflict((conflict) => conflict.column("hash").doNothing())
    .returning("id"),
);

const selectSame = prepared<NewBlob, KnownBlob & { same: number }>(({ db }, arg) =>
  db
    .selectFrom("blob")
    .select(["id", "put_at"])
    .select(sql<number>`case when content = ${arg("content")} then 1 else 0 end`.as("same"))
    .where("hash", "=", arg("hash")),
);

const selectKnown = prepared<{ hash: string }, KnownBlob>(({ db }, arg) =>
  db.selectFrom("blob").select(["id", "put_at"]).where("hash", "=", arg("hash")),
);

const touch = prepared<KnownBlob, { id: number }>(({ db }, arg) =>
  db
    .updateTable("blob")
    .set({ put_at: arg("put_at") })
    .where("id", "=", arg("id"))
    .returning("id"),
);

const mend = prepared<Omit<BlobRow, "hash" | "id"> & { id: number }, { id: number }>(({ db }, arg) =>
  db
    .updateTable("blob")
    .set({ size: arg("size"), content: arg("content"), put_at: arg("put_at") })
    .where("id", "=", arg("id"))
    .returning("id"),
);

/**
 * Keeps bytes under their hash; what is there already stays and counts as put again, and what was damaged is mended.
 * Answers its number. It looks again when somebody else put or collected the blob between two statements.
 */
export function* putBlob({ hash, content }: NewBlob, at: number): Unit<number> {
  const size = content.length;
  for (;;) {
    const [found] = yield* selectSame({ hash, content });
    if (!found) {
      const [made] = yield* insert({ hash, size, content, put_at: at });
      if (made) return made.id;
    } else if (!found.same) {
      const [mended] = yield* mend({ id: found.id, size, content, put_at: at });
      if (mended) return mended.id;
    } else if (yield* keep(found, at)) return found.id;
  }
}

/** The same for what most likely was never put before, such as what somebody has just said: nothing is looked for first. */
export function* putNewBlob(blob: NewBlob, at: number): Unit<number> {
  const [made] = yield* insert({ ...blob, size: blob.content.length, put_at: at });
  return made ? made.id : yield* putBlob(blob, at);
}

/** False when the blob has gone meanwhile. One that was put within the hour can't: it is not written again. */
function* keep({ id, put_at }: KnownBlob, at: number): Unit<boolean> {
  if (put_at >= at - PUT_GRAIN_SECONDS) return true;
  return (yield* touch({ id, put_at: at })).length > 0;
}

/**
 * Names blobs that are about to be used. They count as put again, so that none of them is collected before the unit that
 * uses it is committed. Those that are missing are left out.
 */
export function* claimBlobs(hashes: readonly string[], at: number): Unit<Map<string, number>> {
  const found = new Map<string, number>();
  for (const hash of new Set(hashes)) {
    const [known] = yield* selectKnown({ hash });
    if (known && (yield* keep(known, at))) found.set(hash, known.id);
  }
  return found;
}

const select = prepared<{ hash: string }, StoredBlob>(({ db }, arg) =>
  db.selectFrom("blob").select(["id", "hash", "content"]).where("hash", "=", arg("hash")),
);

export function* findBlob(hash: string): Unit<StoredBlob | undefined> {
  const [row] = yield* select({ hash });
  return row && { id: row.id, hash: row.hash, content: bytesOf(row.content) };
}

/** Those of the blobs that are there; no more are asked for at once than a statement can name. */
export function* findBlobs(hashes: readonly string[]): Unit<Map<string, StoredBlob>> {
  const found = new Map<string, StoredBlob>();
  const wanted = [...new Set(hashes)];
  for (let from = 0; from < wanted.length; from += BATCH) {
    const rows = yield* query(({ db }) =>
      db
        .selectFrom("blob")
        .select(["id", "hash", "content"])
        .where("hash", "in", wanted.slice(from, from + BATCH)),
    );
    for (const row of rows) found.set(row.hash, { ...row, content: bytesOf(row.content) });
  }
  return found;
}

const BATCH = 500;

const insertUse = prepared<{ workspace_id: string; thread_id: string; blob_id: number }, unknown>(
  ({ db }, arg) =>
    db
      .insertInto("blob_use")
      .values({
        workspace_id: arg("workspace_id"),
        thread_id: arg("thread_id"),
        blob_id: arg("blob_id"),
      })
      .onConflict((conflict) => conflict.columns(["workspace_id", "thread_id", "blob_id"]).doNothing()),
);

/** A thread's journal refers to blobs: they stay as long as it does. They were put or claimed in the same unit. */
export function* useBlobs(workspace_id: string, thread_id: string, blob_ids: Iterable<number>): Unit<void> {
  for (const blob_id of blob_ids) yield* insertUse({ workspace_id, thread_id, blob_id });
}

export interface UnusedBlob extends KnownBlob {
  readonly hash: string;
}

interface UnusedArgs {
  readonly before: number;
  readonly put_at: number;
  readonly id: number;
  readonly limit: number;
}

/** In the order of their index: a walk by number would read past the bytes of every blob there is. */
const selectUnused = prepared<UnusedArgs, UnusedBlob>(({ db }, arg) =>
  db
    .selectFrom("blob as b")
    .select(["b.id", "b.hash", "b.put_at"])
    .where("b.put_at", "<", arg("before"))
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple("b.put_at", "b.id"), ">", tuple(arg("put_at"), arg("id"))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("blob_use as u").select("u.blob_id").whereRef("u.blob_id", "=", "b.id"))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom("history as h").select("h.blob_id").whereRef("h.blob_id", "=", "b.id"))),
    )
    .orderBy("b.put_at")
    .orderBy("b.id")
    .limit(arg("limit")),
);

/** Blobs that no journal and no history refers to and that were put long enough ago, after the last of the batch before. */
export function* listUnused(
  now: number,
  after: Pick<UnusedBlob, "put_at" | "id"> | undefined,
  limit: number,
): Unit<UnusedBlob[]> {
  const { put_at, id } = after ?? { put_at: -1, id: 0 };
  return yield* selectUnused({ before: collectable(now), put_at, id, limit });
}

/** Removes blobs, but for those that were put again or came into use meanwhile. Answers how many went. */
export function* collectBlobs(ids: readonly number[], now: number): Unit<number> {
  if (ids.length === 0) return 0;
  const rows = yield* query(({ db }) =>
    db
      .deleteFrom("blob")
      .where("id", "in", ids)
      .where("put_at", "<", collectable(now))
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom("blob_use as u").select("u.blob_id").whereRef("u.blob_id", "=", "blob.id"))),
      )
      .where(({ not, exists, selectFrom }) =>
        not(exists(selectFrom("history as h").select("h.blob_id").whereRef("h.blob_id", "=", "blob.id"))),
      )
      .returning("id"),
  );
  return rows.length;
}

function collectable(now: number): number {
  return now - KEPT_SECONDS - PUT_GRAIN_SECONDS;
}

/** Every workspace, deleted or not, with the number of its last notification: it changes with any thread's settings. */
export function* workspaceSeqs(): Unit<Map<string, number>> {
  const rows = yield* query(({ db }) => db.selectFrom("workspace").select(["id", "seq"]));
  return new Map(rows.map(({ id, seq }) => [id, seq]));
}

/** Settings of a workspace's threads that name blobs, of deleted threads too: what they name must not be collected. */
export function* configsWithRefs(workspace_id: string): Unit<string[]> {
  const rows = yield* query(({ db }) =>
    db
      .selectFrom("thread")
      .select("config")
      .where("workspace_id", "=", workspace_id)
      .where("config", "like", "%sha256:%"),
  );
  return rows.map(({ config }) => config as string);
}

/** One driver answers bytes as an ArrayBuffer, the others as a view. */
export function bytesOf(content: Uint8Array | ArrayBuffer): Uint8Array {
  return content instanceof ArrayBuffer ? new Uint8Array(content) : content;
}
