import { join } from "node:path";

export type Dialect = "sqlite" | "postgres";

/** One workspace that holds everything, and one of a usual size in the same store. */
export const WHOLE = "ws_0000000000000000000000WHOLE";
export const USUAL = "ws_0000000000000000000000USUAL";

/** Threads of the usual workspace, whatever else the store holds. */
const USUAL_THREADS = 10_000;

export const THREADS_PER_FOLDER = 10;
/** Every so many threads one stands at the root, one is of the rarer agent, and one folder has a document. */
const AT_ROOT_EVERY = 20;
const RARE_AGENT_EVERY = 1_000;
const DOCUMENT_EVERY = 10;
const EPOCH = 1_700_000_000;
const GAP = 2 ** 26;

/** A word of one message, and one of every second message. */
export const RARE_WORD = "quixotic";
export const FREQUENT_WORD = "question";
export const RARE_AGENT = "rare";

/** Carries out one statement. */
export type Run = (sql: string) => unknown;

/**
 * Fills a store past the gateway by a dozen statements that the database carries out by itself. The projects of the
 * workspaces are away, so that a gateway keeps what it knows of their threads and looks for no files.
 */
export async function fill(run: Run, dialect: Dialect, threads: number, awayDir: string): Promise<void> {
  for (const [workspace, count] of [
    [WHOLE, threads],
    [USUAL, USUAL_THREADS],
  ] as const)
    for (const statement of statements(new Words(dialect, workspace), count, awayDir)) await run(statement);
}

/** The id of the thread or folder with a number. */
export function idOf(kind: "thread" | "folder", workspace: string, number: number): string {
  return `${prefixOf(kind, workspace)}${String(number).padStart(10, "0")}`;
}

export function createdAt(number: number): number {
  return EPOCH + number;
}

function prefixOf(kind: "thread" | "folder" | "run", workspace: string): string {
  const prefix = { thread: "thr_", folder: "fld_", run: "run_" }[kind];
  return `${prefix}00000000000${workspace.slice(-5)}`;
}

/** What the two dialects say differently. */
class Words {
  constructor(
    readonly dialect: Dialect,
    readonly workspace: string,
  ) {}

  /** Numbers from 0 as `n(i)`. */
  numbers(count: number): string {
    return this.dialect === "postgres"
      ? `with n as (select i::bigint as i from generate_series(0, ${count - 1}) as i)`
      : `with recursive n(i) as (select 0 union all select i + 1 from n where i < ${count - 1})`;
  }

  id(kind: "thread" | "folder" | "run", number: string): string {
    const digits =
      this.dialect === "postgres" ? `lpad((${number})::text, 10, '0')` : `printf('%010d', ${number})`;
    return `'${prefixOf(kind, this.workspace)}' || ${digits}`;
  }
}

function statements(words: Words, threads: number, awayDir: string): string[] {
  const { workspace } = words;
  const folders = threads / THREADS_PER_FOLDER;
  return [
    `insert into workspace (id, name, root_path, home, seq, created_at, updated_at)
      values ('${workspace}', '${workspace.slice(-5)}', '${join(awayDir, workspace)}', 0, 0, ${EPOCH}, ${EPOCH})`,
    // Ten folders at the root, the others ten to a folder.
    `${insertInto("thread_folder (id, workspace_id, parent_folder_id, name, rank, created_at, updated_at)", words, folders)}
      select ${words.id("folder", "i")}, '${workspace}',
        case when i < 10 then null else ${words.id("folder", "i / 10 - 1")} end,
        'Folder ' || i, i * ${GAP}, ${EPOCH}, ${EPOCH} from n`,
    `${insertInto("thread (id, workspace_id, title, title_search, agent_id, status, last_snippet, message_count, config, created_at, updated_at)", words, threads)}
      select ${words.id("thread", "i")}, '${workspace}', 'Thread ' || i || ' about a question of the day',
        'thread ' || i || ' about a question of the day',
        case when i % ${RARE_AGENT_EVERY} = 7 then '${RARE_AGENT}' else 'demo' end, 'idle',
        'The last words of thread ' || i || ', as a list would show them.', i % 200,
        case when i % 10 = 0 then '{"model":"a-model"}' end,
        ${EPOCH} + i, ${EPOCH} + (i * 7919) % ${threads} from n`,
    `${insertInto("thread_placement (workspace_id, thread_id, folder_id, rank)", words, threads)}
      select '${workspace}', ${words.id("thread", "i")},
        case when i % ${AT_ROOT_EVERY} = 0 then null else ${words.id("folder", `i % ${folders}`)} end, i * ${GAP} from n`,
    `${insertInto("thread_agents_doc (id, workspace_id, folder_id, status, title, content, content_sha256, char_count, version, created_at, updated_at)", words, folders / DOCUMENT_EVERY)}
      select 'agd_' || ${words.id("folder", `i * ${DOCUMENT_EVERY}`)}, '${workspace}', ${words.id("folder", `i * ${DOCUMENT_EVERY}`)},
        'active', 'AGENTS.md', 'Keep functions short.', 'none', 21, 1, ${EPOCH}, ${EPOCH} from n`,
    `${insertInto("run (id, workspace_id, thread_id, number, status, steps, agent_id, user_message_id, agent_message_id, first_seq, last_seq, created_at, updated_at)", words, threads)}
      select ${words.id("run", "i")}, '${workspace}', ${words.id("thread", "i")}, 1, 'completed', 1, 'demo', 'user', 'agent', 1, 5,
        ${EPOCH} + i, ${EPOCH} + i from n`,
    ...titles(words),
    ...messages(words, threads),
  ];
}

/** What the migration would make of them. An index of pieces is made quicker afterwards than row by row. */
function titles({ workspace, dialect }: Words): string[] {
  const mine = `from thread t where t.workspace_id = '${workspace}'`;
  if (dialect === "postgres")
    return [
      "drop index ix_thread_title_grams",
      `insert into thread_title (workspace_id, thread_id, grams) select t.workspace_id, t.id,
        array(select distinct substr(t.title_search, i, 3) from generate_series(1, char_length(t.title_search) - 2) as i) ${mine}`,
      "create index ix_thread_title_grams on thread_title using gin (grams)",
    ];
  return [
    `insert into thread_title (workspace_id, thread_id) select t.workspace_id, t.id ${mine}`,
    `insert into thread_title_grams (rowid, title) select n.id, t.title_search
      from thread_title n join thread t on t.workspace_id = n.workspace_id and t.id = n.thread_id
      where n.workspace_id = '${workspace}'`,
  ];
}

function messages(words: Words, threads: number): string[] {
  const { workspace, dialect } = words;
  const rare = `case when i = ${threads / 2} then '${RARE_WORD}' else 'plain' end`;
  const frequent = `case when i % 2 = 0 then '${FREQUENT_WORD}' else 'other' end`;
  const columns = "workspace_id, thread_id, message_id, line_offset, at, role";
  const values = `'${workspace}', ${words.id("thread", "i")}, 'user', 0, ${EPOCH} + i, 'user'`;
  if (dialect === "postgres")
    return [
      `${insertInto(`message (${columns}, words)`, words, threads)}
        select ${values}, array_to_tsvector(array[${frequent}, ${rare}, 'word' || (i % 5000)]) from n`,
    ];
  const from = `(select coalesce(min(id), 0) from message where workspace_id = '${workspace}')`;
  return [
    `${insertInto(`message (${columns})`, words, threads)} select ${values} from n`,
    `${insertInto("message_words (rowid, words)", words, threads)}
      select i + ${from}, ${frequent} || ' ' || ${rare} || ' word' || (i % 5000) from n`,
  ];
}

function insertInto(target: string, words: Words, count: number): string {
  return `insert into ${target} ${words.numbers(count)}`;
}
