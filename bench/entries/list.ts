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
import { RawSqlite, type RawStatement } from "../support/raw.js";
import { Seed, type SeededThread } from "../support/seed.js";

const SIZES = [10_000, 100_000] as const;
const LIMIT = 100;
const ORDERS = ["updated", "created"] as const;
const CALLS = 5;

interface Filled {
  readonly size: number;
  readonly workspace_id: string;
  readonly threads: readonly SeededThread[];
}

/** One page to ask for: whose threads, in which order, from where. */
interface Question {
  readonly name: string;
  readonly size: number;
  readonly workspace_id: string;
  readonly order: (typeof ORDERS)[number];
  readonly after: SeededThread | undefined;
}

/** A page of a hundred threads, at the start and in the middle, of a few and of many. */
export const list: Entry = {
  name: "list",
  title: `list ${LIMIT} of ${SIZES.join(" and of ")} threads`,
  async run(bench: Bench): Promise<Row[]> {
    const dataDir = bench.directory();
    const filled = await Seed.into(dataDir, (seed) => SIZES.map((size) => fill(seed, size)));
    const ways = await openWays(bench, dataDir);
    const pages = ORDERS.flatMap((order) => ["first page", "middle page"].map((page) => ({ order, page })));
    const rows: Row[] = [];
    for (const { order, page } of pages) {
      const name = `${order}, ${page}`;
      const questions = filled.map((each) => question(name, each, order, page === "first page"));
      rows.push(...(await compare(bench, ways, name, questions)));
    }
    return rows;
  },
};

interface Ways {
  raw(asked: Question): unknown[];
  local(asked: Question): Promise<{ data: unknown[] }>;
  wire(asked: Question): Promise<string>;
}

async function compare(
  bench: Bench,
  ways: Ways,
  page: string,
  questions: readonly Question[],
): Promise<Row[]> {
  const samplers: Record<string, Sampler> = {};
  for (const asked of questions) {
    const { data } = await ways.local(asked);
    if (data.length !== LIMIT) throw new Error(`${page} has ${data.length} threads`);
    for (const way of ["raw", "local", "wire"] as const)
      samplers[`${way} ${asked.size}`] = typicalMilliseconds(CALLS, () => ways[way](asked));
  }
  const series = await inTurns(bench.times(40, 10), samplers);
  const samples = (way: string, size: number) => series[`${way} ${size}`] ?? [];
  const target = { of: "value", atMost: 2 } as const;
  const rows = questions.flatMap(({ size }) => {
    const against = { name: "raw indexed query", samples: samples("raw", size) };
    return [
      row({
        name: `${size}, ${page}, in process`,
        unit: "ms",
        samples: samples("local", size),
        against,
        target,
      }),
      row({
        name: `${size}, ${page}, over the wire`,
        unit: "ms",
        samples: samples("wire", size),
        against,
        target,
      }),
    ];
  });
  const [few, many] = SIZES;
  const flat = { name: `of ${few}`, samples: samples("wire", few) };
  return [
    ...rows,
    row({ name: `flat? ${page}, of ${many}`, unit: "ms", samples: samples("wire", many), against: flat }),
  ];
}

async function openWays(bench: Bench, dataDir: string): Promise<Ways> {
  const deps = await openLocal(bench, dataDir);
  const { listThreads } = (await built()).tree;
  const raw = await RawSqlite.open(databaseFile(dataDir));
  bench.onEnd(() => raw.close());
  const first = {
    updated: raw.prepare(rawQuery("updated", "")),
    created: raw.prepare(rawQuery("created", "")),
  };
  const next = {
    updated: raw.prepare(rawQuery("updated", "after")),
    created: raw.prepare(rawQuery("created", "after")),
  };
  const { url, token } = await startGateway(bench, dataDir);
  const caller = await Caller.open(bench, url, token);
  return {
    raw: ({ workspace_id, order, after }) => {
      const run: RawStatement = after ? next[order] : first[order];
      return after ? run(workspace_id, after[`${order}_at`], after.id) : run(workspace_id);
    },
    local: (asked) => listThreads(deps, paramsOf(asked)),
    wire: (asked) => caller.call("thread/list", paramsOf(asked)),
  };
}

function rawQuery(order: Question["order"], from: "" | "after"): string {
  const column = `t.${order}_at`;
  return `
    select t.*, p.folder_id, p.rank
      from thread t left join thread_placement p on p.workspace_id = t.workspace_id and p.thread_id = t.id
      where t.workspace_id = ? and t.deleted_at is null ${from ? `and (${column}, t.id) < (?, ?)` : ""}
      order by ${column} desc, t.id desc limit ${LIMIT + 1}`;
}

function paramsOf({ workspace_id, order, after }: Question) {
  const cursor = after && encodeCursor(after[`${order}_at`], after.id);
  return {
    workspace_id,
    order,
    limit: LIMIT,
    agent_id: undefined,
    folder_id: undefined,
    query: undefined,
    cursor,
  };
}

function question(name: string, filled: Filled, order: Question["order"], first: boolean): Question {
  const { size, workspace_id, threads } = filled;
  const sorted = threads.toSorted((a, b) => b[`${order}_at`] - a[`${order}_at`]);
  return { name, size, workspace_id, order, after: first ? undefined : sorted[size / 2] };
}

function fill(seed: Seed, size: number): Filled {
  const workspace_id = seed.workspace(`${size} threads`);
  const folders = Array.from({ length: size / 100 }, (_, index) =>
    seed.folder(workspace_id, null, `Folder ${index}`),
  );
  const threads = Array.from({ length: size }, (_, index) =>
    seed.thread(workspace_id, folders[index % folders.length] ?? null, { index, of: size }),
  );
  return { size, workspace_id, threads };
}
