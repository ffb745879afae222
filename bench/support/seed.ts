import { join } from "node:path";
import type { MakeId } from "../../src/base/index.js";
import type { Bench } from "../harness.js";
import { built } from "./built.js";
import { databaseFile, openLocal } from "./local.js";
import { RawSqlite, type RawStatement } from "./raw.js";

const EPOCH = 1_700_000_000;

const INSERTS = {
  workspace:
    "insert into workspace (id, name, root_path, home, seq, created_at, updated_at) values (?, ?, ?, 0, 0, ?, ?)",
  folder:
    "insert into thread_folder (id, workspace_id, parent_folder_id, name, rank, created_at, updated_at) values (?, ?, ?, ?, ?, ?, ?)",
  thread:
    "insert into thread (id, workspace_id, title, title_search, agent_id, status, last_snippet, message_count, config, created_at, updated_at) values (?, ?, ?, ?, 'demo', 'idle', ?, ?, ?, ?, ?)",
  placement: "insert into thread_placement (workspace_id, thread_id, folder_id, rank) values (?, ?, ?, ?)",
  doc: "insert into thread_agents_doc (id, workspace_id, folder_id, status, title, content, content_sha256, char_count, version, created_at, updated_at) values (?, ?, ?, 'active', 'AGENTS.md', ?, ?, ?, 1, ?, ?)",
} as const;

export interface SeededThread {
  readonly id: string;
  readonly created_at: number;
  readonly updated_at: number;
}

/**
 * Fills a store past the gateway, in one transaction: a hundred thousand threads take seconds, not minutes. The threads
 * have no files. A gateway would make them for every row, unless the project is away: then it keeps what it knows.
 */
export class Seed {
  readonly #raw: RawSqlite;
  readonly #awayDir: string;
  readonly #makeId: MakeId;
  readonly #hash: (text: string) => string;
  readonly #insert: Readonly<Record<keyof typeof INSERTS, RawStatement>>;
  #count = 0;

  /** Makes the store and leaves what `fill` puts into it. */
  static async into<T>(bench: Bench, dataDir: string, fill: (seed: Seed) => T): Promise<T> {
    await bench.part((part) => makeStore(part, dataDir));
    const { base } = await built();
    const raw = await RawSqlite.open(databaseFile(dataDir));
    try {
      const awayDir = join(dataDir, "away");
      const seed = new Seed(raw, awayDir, { makeId: base.idMaker(base.systemClock), hash: base.sha256 });
      raw.exec("begin");
      const filled = fill(seed);
      raw.exec("commit");
      return filled;
    } finally {
      raw.close();
    }
  }

  private constructor(
    raw: RawSqlite,
    awayDir: string,
    { makeId, hash }: { makeId: MakeId; hash: (text: string) => string },
  ) {
    this.#raw = raw;
    this.#awayDir = awayDir;
    this.#makeId = makeId;
    this.#hash = hash;
    const prepared = Object.entries(INSERTS).map(([name, sql]) => [name, this.#raw.prepare(sql)]);
    this.#insert = Object.fromEntries(prepared);
  }

  workspace(name: string): string {
    const id = this.#makeId("ws_");
    this.#insert.workspace(id, name, join(this.#awayDir, id), EPOCH, EPOCH);
    return id;
  }

  folder(workspace: string, parent: string | null, name: string): string {
    const id = this.#makeId("fld_");
    this.#insert.folder(id, workspace, parent, name, this.#next(), EPOCH, EPOCH);
    return id;
  }

  /** A thread among so many: they are made a minute apart and were updated in another order. */
  thread(workspace: string, folder: string | null, place: { index: number; of: number }): SeededThread {
    const id = this.#makeId("thr_");
    const title = `Thread ${place.index} about a question of the day`;
    const created_at = EPOCH + place.index * 60;
    const updated_at = EPOCH + ((place.index * 7_919) % place.of) * 60 + 30;
    const snippet = `The last words of thread ${place.index}, as a list would show them.`;
    const config = place.index % 10 === 0 ? '{"model":"a-model"}' : null;
    const words = [title, title.toLowerCase(), snippet, place.index % 200, config];
    this.#insert.thread(id, workspace, ...words, created_at, updated_at);
    this.#insert.placement(workspace, id, folder, this.#next());
    return { id, created_at, updated_at };
  }

  doc(workspace: string, folder: string | null, content: string): void {
    const scope = [this.#makeId("agd_"), workspace, folder];
    this.#insert.doc(...scope, content, this.#hash(content), content.length, EPOCH, EPOCH);
  }

  #next(): number {
    return ++this.#count * 2 ** 26;
  }
}

async function makeStore(bench: Bench, dataDir: string): Promise<void> {
  const deps = await openLocal(bench, dataDir);
  await (await built()).tree.ensureHome(deps);
}

/** A document of so many characters. */
export function documentText(chars: number): string {
  const line = "Keep functions short, name the failure in comments, test what a rule says.\n";
  return line.repeat(Math.ceil(chars / line.length)).slice(0, chars);
}
