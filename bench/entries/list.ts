import { encodeCursor } from "../../src/tree/cursor.js";
import {
  type Bench,
  type Entry,
  inTurns,
  type Row,
  row,
  type Sampler,
  typicalMilliseconds,
} from "../harness.js";
import { built } from "../support/built.js";
import { Caller } from "../support/caller.js";
import { startGateway } from "../support/child.js";
import { databaseFile, openLocal } from "../support/local.js";
import { RawSqlite, THREAD_COLUMNS } from "../support/raw.js";
import { Seed, type SeededThread } from "../support/seed.js";

const FEW = 10_000;
const MANY = 100_000;
const SIZES = [FEW, MANY] as const;
const LIMIT = 100;
const PER_FOLDER = 100;
const CALLS = 5;
const WARM_UPS = 10;

const PAGES = [
  { name: "by updated, first page", order: "updated", from: "start" },
  { name: "by updated, middle page", order: "updated", from: "middle" },
  { name: "by created, first page", order: "created", from: "start" },
  { name: "by created, middle page", order: "created", from: "middle" },
  { name: "one folder, by updated", order: "updated", from: "start", folder: true },
] as const satisfies readonly Page[];

interface Page {
  readonly name: string;
  readonly order: "updated" | "created";
  readonly from: "start" | "middle";
  readonly folder?: true;
}

/** One page of one workspace. */
interface Question {
  readonly workspace_id: string;
  readonly order: Page["order"];
  readonly folder_id: string | undefined;
  readonly after: SeededThread | undefined;
}

/** A page of a hundred threads, at the start and in the middle, of few and of many. */
export const list: Entry = {
  name: "list",
  title: `list ${LIMIT} of ${FEW} and of ${MANY} threads`,
  async run(bench: Bench): Promise<Row[]> {
    const dataDir = bench.directory();
    const filled = await Seed.into(bench, dataDir, (seed) => SIZES.map((size) => fill(seed, size)));
    const ways = await openWays(bench, dataDir);
    const rows: Row[] = [];
    for (const page of PAGES) rows.push(...(await measure(bench, ways, page, filled)));
    return rows;
  },
};

type Ways = Readonly<Record<"raw" | "local" | "wire", (asked: Question) => unknown>>;

async function measure(bench: Bench, ways: Ways, page: Page, filled: readonly Filled[]): Promise<Row[]> {
  const samplers: Record<string, Sampler> = {};
  for (const workspace of filled) {
    const asked = question(page, workspace);
    for (const way of ["raw", "local", "wire"] as const)
      samplers[`${way} ${workspace.size}`] = typicalMilliseconds(CALLS, () => ways[way](asked));
  }
  const series = await inTurns(bench.times(80, 12), samplers, WARM_UPS);
  const samples = (way: string, size: number) => series[`${way} ${size}`] ?? [];
  const target = { of: "value", atMost: 2 } as const;
  const rows = SIZES.flatMap((size) =>
    (["local", "wire"] as const).map((way) => {
      const against = { name: "raw indexed query", samples: samples("raw", size) };
      const name = `${size}, ${page.name}, ${way === "local" ? "in process" : "over the wire"}`;
      return row({ name, unit: "ms", samples: samples(way, size), against, target });
    }),
  );
  const against = { name: `of ${FEW}`, samples: samples("wire", FEW) };
  const flat = row({
    name: `flat? ${page.name}, of ${MANY}`,
    unit: "ms",
    samples: samples("wire", MANY),
    against,
  });
  return [...rows, flat];
}

async function openWays(bench: Bench, dataDir: string): Promise<Ways> {
  const deps = await openLocal(bench, dataDir);
  const { listThreads } = (await built()).tree;
  const { url, token } = await startGateway(bench, dataDir);
  const caller = await Caller.open(bench, url, token);
  return {
    raw: await rawWay(bench, dataDir),
    async local(asked) {
      const { data } = await listThreads(deps, paramsOf(asked));
      if (data.length !== LIMIT) throw new Error(`a page has ${data.length} threads`);
    },
    wire: (asked) => caller.call("thread/list", paramsOf(asked)),
  };
}

function paramsOf({ workspace_id, folder_id, order, after }: Question) {
  const cursor = after && encodeCursor(after[`${order}_at`], after.id);
  return { workspace_id, folder_id, order, limit: LIMIT, cursor, agent_id: undefined, query: undefined };
}

/** The same pages by hand, each through the index that has them in order. */
async function rawWay(bench: Bench, dataDir: string): Promise<(asked: Question) => unknown[]> {
  const raw = await RawSqlite.open(databaseFile(dataDir));
  bench.onEnd(() => raw.close());
  const all =
    "thread t left join thread_placement p on p.workspace_id = t.workspace_id and p.thread_id = t.id";
  const placed = "thread_placement p cross join thread t";
  const prepare = (order: Page["order"], from: string, where: string) =>
    raw.prepare(`
      select ${THREAD_COLUMNS} from ${from}
        where t.workspace_id = ? and t.deleted_at is null ${where}
        order by t.${order}_at desc, t.id desc limit ${LIMIT + 1}`);
  const pages = {
    updated: prepare("updated", all, ""),
    created: prepare("created", all, ""),
    updatedAfter: prepare("updated", all, "and (t.updated_at, t.id) < (?, ?)"),
    createdAfter: prepare("created", all, "and (t.created_at, t.id) < (?, ?)"),
  };
  const inFolder = prepare(
    "updated",
    placed,
    "and p.folder_id = ? and t.workspace_id = p.workspace_id and t.id = p.thread_id",
  );
  return ({ workspace_id, folder_id, order, after }) => {
    if (folder_id !== undefined) return inFolder(workspace_id, folder_id);
    if (after) return pages[`${order}After`](workspace_id, after[`${order}_at`], after.id);
    return pages[order](workspace_id);
  };
}

interface Filled {
  readonly size: number;
  readonly workspace_id: string;
  readonly folders: readonly string[];
  readonly threads: readonly SeededThread[];
}

function question({ order, from, folder }: Page, { workspace_id, folders, threads, size }: Filled): Question {
  const sorted = threads.toSorted((a, b) => b[`${order}_at`] - a[`${order}_at`]);
  const after = from === "middle" ? sorted[size / 2] : undefined;
  return { workspace_id, order, after, folder_id: folder && folders[folders.length / 2] };
}

function fill(seed: Seed, size: number): Filled {
  const workspace_id = seed.workspace(`${size} threads`);
  const folders = Array.from({ length: size / PER_FOLDER }, (_, index) =>
    seed.folder(workspace_id, null, `Folder ${index}`),
  );
  const threads = Array.from({ length: size }, (_, index) =>
    seed.thread(workspace_id, folders[index % folders.length] ?? null, { index, of: size }),
  );
  return { size, workspace_id, folders, threads };
}
