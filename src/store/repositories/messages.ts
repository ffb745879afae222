import { type RawBuilder, sql } from "kysely";
import { prepared, query, type Sql, type Unit } from "../unit.js";
import { isTerm } from "../words.js";

/** A message to be found by its words, as `wordsOf` gives them. */
export interface IndexedMessage {
  readonly workspace_id: string;
  readonly thread_id: string;
  readonly message_id: string;
  /** Where its line begins in the thread's log. */
  readonly line_offset: number;
  readonly at: number;
  readonly role: string;
  readonly words: readonly string[];
}

export interface MessageSearch {
  readonly workspace_id: string;
  readonly thread_id?: string | undefined;
  /** As `searchTerms` gives them. */
  readonly terms: readonly string[];
  /** The message that ended the page before. */
  readonly before?: { readonly at: number; readonly id: number } | undefined;
  readonly limit: number;
}

export interface FoundMessage {
  readonly id: number;
  readonly thread_id: string;
  readonly message_id: string;
  readonly line_offset: number;
  readonly at: number;
  readonly role: string;
}

export interface SearchedMessage extends FoundMessage {
  /** Where the files of its thread are, when not in the workspace's own directory. */
  readonly file_root: string | null;
}

/** Messages of the workspace's living threads in which every term begins a word, newest first. */
export function* searchMessages(search: MessageSearch): Unit<SearchedMessage[]> {
  const { terms, before, thread_id } = search;
  if (terms.length === 0 || !terms.every(isTerm)) return [];
  return yield* query((s) => {
    let rows = matching(s, terms)
      .where("m.workspace_id", "=", search.workspace_id)
      .where("t.deleted_at", "is", null)
      .select(["m.id", "m.thread_id", "m.message_id", "m.line_offset", "m.at", "m.role", "t.file_root"])
      .orderBy("m.at", "desc")
      .orderBy("m.id", "desc")
      .limit(search.limit);
    if (thread_id !== undefined) rows = rows.where("m.thread_id", "=", thread_id);
    if (!before) return rows;
    return rows.where(({ eb, refTuple, tuple }) =>
      eb(refTuple("m.at", "m.id"), "<", tuple(before.at, before.id)),
    );
  });
}

/** Where a message stands by its id, also in a thread that is deleted. */
export function* findMessage(
  workspace_id: string,
  thread_id: string,
  message_id: string,
): Unit<FoundMessage | undefined> {
  if (!isStorable(message_id)) return undefined;
  return (yield* selectById({ workspace_id, thread_id, message_id }))[0];
}

const selectById = prepared<MessageKey, FoundMessage>(({ db }, arg) =>
  db
    .selectFrom("message")
    .select(["id", "thread_id", "message_id", "line_offset", "at", "role"])
    .where("workspace_id", "=", arg("workspace_id"))
    .where("thread_id", "=", arg("thread_id"))
    .where("message_id", "=", arg("message_id")),
);

function withThreads({ db }: Sql) {
  return db
    .selectFrom("message as m")
    .innerJoin("thread as t", (join) =>
      join.onRef("t.workspace_id", "=", "m.workspace_id").onRef("t.id", "=", "m.thread_id"),
    );
}

/** SQLite keeps the order of a cross join; left to choose, it may look every message up in the index of words. */
function matching(s: Sql, terms: readonly string[]): ReturnType<typeof withThreads> {
  if (s.dialect === "postgres") {
    const wanted = terms.map((term) => `'${term}':*`).join(" & ");
    return withThreads(s).where(sql<boolean>`m.words @@ ${wanted}::tsquery`);
  }
  const wanted = terms.map((term) => `"${term}" *`).join(" AND ");
  return s.db
    .selectFrom(sql<{ rowid: number }>`message_words`.as("f"))
    .crossJoin("message as m")
    .crossJoin("thread as t")
    .whereRef("m.id", "=", "f.rowid")
    .whereRef("t.workspace_id", "=", "m.workspace_id")
    .whereRef("t.id", "=", "m.thread_id")
    .where(sql<boolean>`message_words match ${wanted}`) as never;
}

/** Rows of one statement: enough to make its own cost small, and no more than a piece of JSON that is easily held. */
const BATCH_ROWS = 500;
const BATCH_LENGTH = 1024 * 1024;

/**
 * Adds messages, and replaces those whose id is there already. One whose id no database can hold (NUL, half a
 * character) is left out: it must not keep the others of its thread from being found.
 */
export function* saveMessages(rows: readonly IndexedMessage[]): Unit<void> {
  const last = new Map<string, IndexedMessage>();
  for (const row of rows) if (isStorable(row.message_id)) last.set(keyOf(row), row);
  for (const batch of batches([...last.values()])) {
    const saved = yield* upsert({ rows: JSON.stringify(batch) });
    // PostgreSQL keeps the words in the row and answers nothing.
    if (saved.length === 0) continue;
    const words = saved.map((row) => [row.id, last.get(keyOf(row))?.words.join(" ")]);
    yield* saveWords({ words: JSON.stringify(Object.fromEntries(words)) });
  }
}

function isStorable(message_id: string): boolean {
  return !/[\0\p{Cs}]/u.test(message_id);
}

type MessageKey = Pick<IndexedMessage, "workspace_id" | "thread_id" | "message_id">;

function keyOf({ workspace_id, thread_id, message_id }: MessageKey): string {
  return JSON.stringify([workspace_id, thread_id, message_id]);
}

function* batches(rows: readonly IndexedMessage[]): Generator<IndexedMessage[]> {
  let batch: IndexedMessage[] = [];
  let length = 0;
  for (const row of rows) {
    batch.push(row);
    length += row.words.reduce((sum, word) => sum + word.length, 0);
    if (batch.length < BATCH_ROWS && length < BATCH_LENGTH) continue;
    yield batch;
    batch = [];
    length = 0;
  }
  if (batch.length > 0) yield batch;
}

const upsert = prepared<{ rows: string }, MessageKey & { id: number }>(({ db, dialect }, arg) => ({
  compile: () => upserts[dialect](arg("rows")).compile(db),
}));

const upserts: Record<Sql["dialect"], (rows: string) => RawBuilder<MessageKey & { id: number }>> = {
  sqlite: (rows) => sql`
    insert into message (workspace_id, thread_id, message_id, line_offset, at, role)
    select value ->> 'workspace_id', value ->> 'thread_id', value ->> 'message_id', value ->> 'line_offset',
      value ->> 'at', value ->> 'role'
    from json_each(${rows}) where true
    on conflict (workspace_id, thread_id, message_id) do update
    set line_offset = excluded.line_offset, at = excluded.at, role = excluded.role
    returning id, workspace_id, thread_id, message_id`,
  postgres: (rows) => sql`
    insert into message (workspace_id, thread_id, message_id, line_offset, at, role, words)
    select r.workspace_id, r.thread_id, r.message_id, r.line_offset, r.at, r.role, array_to_tsvector(r.words)
    from json_to_recordset(${rows}::json) as r(
      workspace_id text, thread_id text, message_id text, line_offset bigint, at bigint, role text, words text[]
    )
    on conflict (workspace_id, thread_id, message_id) do update
    set line_offset = excluded.line_offset, at = excluded.at, role = excluded.role, words = excluded.words`,
};

/** From a JSON object of words by the message's number. */
const saveWords = prepared<{ words: string }, unknown>(({ db }, arg) => ({
  compile: () =>
    sql`insert or replace into message_words (rowid, words)
      select cast(key as integer), value from json_each(${arg("words")})`.compile(db),
}));

/** Forgets the messages of a thread. */
export function* removeMessages(workspace_id: string, thread_id: string): Unit<void> {
  yield* query(({ db }) =>
    db.deleteFrom("message").where("workspace_id", "=", workspace_id).where("thread_id", "=", thread_id),
  );
}
