import { type RawBuilder, sql } from "kysely";
import { prepared, type Sql, type Unit } from "../unit.js";

/** Any part of a title of so many characters is in the index; a shorter one is looked for in every title. */
export const GRAM = 3;

interface Title {
  readonly workspace_id: string;
  readonly thread_id: string;
  /** As in `title_search`. */
  readonly title: string;
}

/** Every piece of three characters of a text, once each. */
export function gramsOf(text: string): string[] {
  const chars = [...text];
  const grams = new Set<string>();
  for (let at = 0; at + GRAM <= chars.length; at++) grams.add(chars.slice(at, at + GRAM).join(""));
  return [...grams];
}

/** Makes a thread findable by any part of its title, in place of what it was called before. */
export function* saveTitle(title: Title): Unit<void> {
  const saved = yield* upsert({ ...title, grams: JSON.stringify(gramsOf(title.title)) });
  // PostgreSQL keeps the pieces in the row and answers nothing.
  const [row] = saved;
  if (row) yield* saveGrams({ id: row.id, title: title.title });
}

const upsert = prepared<Title & { grams: string }, { id: number }>(({ db, dialect }, arg) => ({
  compile: () => upserts[dialect](arg("workspace_id"), arg("thread_id"), arg("grams")).compile(db),
}));

const upserts: Record<
  Sql["dialect"],
  (workspace_id: string, thread_id: string, grams: string) => RawBuilder<{ id: number }>
> = {
  sqlite: (workspace_id, thread_id) => sql`
    insert into thread_title (workspace_id, thread_id) values (${workspace_id}, ${thread_id})
    on conflict (workspace_id, thread_id) do update set thread_id = excluded.thread_id
    returning id`,
  postgres: (workspace_id, thread_id, grams) => sql`
    insert into thread_title (workspace_id, thread_id, grams)
    values (${workspace_id}, ${thread_id}, array(select json_array_elements_text(${grams}::json)))
    on conflict (workspace_id, thread_id) do update set grams = excluded.grams`,
};

const saveGrams = prepared<{ id: number; title: string }, unknown>(({ db }, arg) => ({
  compile: () =>
    sql`insert or replace into thread_title_grams (rowid, title) values (${arg("id")}, ${arg("title")})`.compile(
      db,
    ),
}));

/** Which threads may have a part in their title: those that have all of its pieces. It has at least one. */
export function titleHas({ dialect }: Sql, part: string): RawBuilder<boolean> {
  const grams = gramsOf(part);
  if (dialect === "postgres") return sql<boolean>`n.grams @> ${grams}::text[]`;
  const wanted = grams.map((gram) => `"${gram.replaceAll('"', '""')}"`).join(" AND ");
  return sql<boolean>`thread_title_grams match ${wanted}`;
}
