import { sql } from "kysely";
import type { HistoryRow } from "../schema.js";
import { prepared, type Sql, type Unit } from "../unit.js";
import { bytesOf } from "./blobs.js";

/** One list of what a thread's agent was told. */
export interface HistoryKey {
  readonly workspace_id: string;
  readonly thread_id: string;
  readonly epoch: number;
}

/** A message of it, with its blob. */
export interface ToldMessage extends HistoryRow {
  readonly hash: string;
  readonly content: Uint8Array;
}

const insert = prepared<HistoryRow, unknown>(({ db }, arg) =>
  db.insertInto("history").values({
    workspace_id: arg("workspace_id"),
    thread_id: arg("thread_id"),
    epoch: arg("epoch"),
    pos: arg("pos"),
    blob_id: arg("blob_id"),
    list_hash: arg("list_hash"),
    role: arg("role"),
    chars: arg("chars"),
    tokens: arg("tokens"),
    message_id: arg("message_id"),
  }),
);

export function* appendHistory(row: HistoryRow): Unit<void> {
  yield* insert({ ...row, message_id: kept(row.message_id) });
}

/** Other programs' ids may hold what no column of text does (NUL, half a character): they are kept as JSON writes them. */
function kept(message_id: string): string {
  return JSON.stringify(message_id).slice(1, -1);
}

function asItWas<R extends { readonly message_id: string }>(row: R): R {
  const { message_id } = row;
  return message_id.includes("\\") ? { ...row, message_id: JSON.parse(`"${message_id}"`) } : row;
}

type Range = HistoryKey & { from: number; to: number };

/** A range of a list with the hashes of its blobs: which columns are read of them is up to the caller. */
function rangeOf({ db }: Sql, arg: <K extends keyof Range & string>(key: K) => Range[K]) {
  return db
    .selectFrom("history as h")
    .innerJoin("blob as b", "b.id", "h.blob_id")
    .selectAll("h")
    .select("b.hash")
    .where("h.workspace_id", "=", arg("workspace_id"))
    .where("h.thread_id", "=", arg("thread_id"))
    .where("h.epoch", "=", arg("epoch"))
    .where("h.pos", ">=", arg("from"))
    .where("h.pos", "<", arg("to"))
    .orderBy("h.pos");
}

const selectTold = prepared<Range, ToldMessage>((s, arg) => rangeOf(s, arg).select("b.content"));
const selectRows = prepared<Range, ToldRow>(rangeOf);

/** Behind every position: no column holds a larger one. */
const END = 2_147_483_647;

/** Messages from one position up to another, which is left out, or to the end. */
export function* toldMessages(
  { workspace_id, thread_id, epoch }: HistoryKey,
  from: number,
  to = END,
): Unit<ToldMessage[]> {
  const rows = yield* selectTold({ workspace_id, thread_id, epoch, from, to });
  return rows.map((row) => ({ ...asItWas(row), content: bytesOf(row.content) }));
}

export interface ToldRow extends HistoryRow {
  readonly hash: string;
}

/** The same without their bytes. */
export function* toldRows(
  { workspace_id, thread_id, epoch }: HistoryKey,
  from: number,
  to = END,
): Unit<ToldRow[]> {
  return (yield* selectRows({ workspace_id, thread_id, epoch, from, to })).map(asItWas);
}

const selectLast = prepared<Omit<HistoryKey, "epoch">, HistoryRow>(({ db }, arg) =>
  db
    .selectFrom("history")
    .selectAll()
    .where("workspace_id", "=", arg("workspace_id"))
    .where("thread_id", "=", arg("thread_id"))
    .orderBy("epoch", "desc")
    .orderBy("pos", "desc")
    .limit(1),
);

/** The last message of a thread's latest list. */
export function* lastTold(of: Omit<HistoryKey, "epoch">): Unit<HistoryRow | undefined> {
  return (yield* selectLast(of))[0];
}

const selectByMessage = prepared<Omit<HistoryKey, "epoch"> & { ids: string }, ToldMessage>(
  ({ db, dialect }, arg) =>
    db
      .selectFrom("history as h")
      .innerJoin("blob as b", "b.id", "h.blob_id")
      .selectAll("h")
      .select(["b.hash", "b.content"])
      .where("h.workspace_id", "=", arg("workspace_id"))
      .where("h.thread_id", "=", arg("thread_id"))
      .where(
        "h.message_id",
        "in",
        dialect === "sqlite"
          ? sql<string>`(select value from json_each(${arg("ids")}))`
          : sql<string>`(select json_array_elements_text(${arg("ids")}::json))`,
      )
      .orderBy("h.epoch")
      .orderBy("h.pos"),
);

/** How messages of the log were told in any of the thread's lists: a log that was replaced may still hold them. */
export function* toldBefore(
  of: Omit<HistoryKey, "epoch">,
  message_ids: readonly string[],
): Unit<ToldMessage[]> {
  const rows = yield* selectByMessage({ ...of, ids: JSON.stringify(message_ids.map(kept)) });
  return rows.map((row) => ({ ...asItWas(row), content: bytesOf(row.content) }));
}

const copy = prepared<Omit<HistoryKey, "epoch"> & { epoch: number; to: number; into: string }, unknown>(
  ({ db }, arg) =>
    db
      .insertInto("history")
      .columns([
        "workspace_id",
        "thread_id",
        "epoch",
        "pos",
        "blob_id",
        "list_hash",
        "role",
        "chars",
        "tokens",
        "message_id",
      ])
      .expression(
        db
          .selectFrom("history")
          .select((eb) => [
            "workspace_id",
            eb.cast<string>(eb.val(arg("into")), "text").as("thread_id"),
            eb.lit(1).as("epoch"),
            "pos",
            "blob_id",
            "list_hash",
            "role",
            "chars",
            "tokens",
            "message_id",
          ])
          .where("workspace_id", "=", arg("workspace_id"))
          .where("thread_id", "=", arg("thread_id"))
          .where("epoch", "=", arg("epoch"))
          .where("pos", "<", arg("to")),
      ),
);

/** A new thread begins with the first messages of another, in one statement however many. */
export function* copyHistory(
  { workspace_id, thread_id, epoch }: HistoryKey,
  to: number,
  into: string,
): Unit<void> {
  yield* copy({ workspace_id, thread_id, epoch, to, into });
}
