import { type Bench, type Entry, inTurns, milliseconds, type Row, row } from "../harness.js";
import { built } from "../support/built.js";
import { Caller } from "../support/caller.js";
import { startGateway } from "../support/child.js";
import { databaseFile, openLocal } from "../support/local.js";
import { RawSqlite, THREAD_COLUMNS } from "../support/raw.js";
import { documentText, Seed } from "../support/seed.js";

const THREADS = 10_000;
const FOLDERS = 1_000;
/** Every tenth folder has a document. */
const DOCUMENT_EVERY = 10;

const RAW_QUERIES = {
  threads: `
    select ${THREAD_COLUMNS}
      from thread t left join thread_placement p on p.workspace_id = t.workspace_id and p.thread_id = t.id
      where t.workspace_id = ? and t.deleted_at is null
      order by t.pinned_at desc nulls last, p.rank, t.id`,
  folders: "select * from thread_folder where workspace_id = ? order by rank, id",
  docs: `
    select id, workspace_id, folder_id, status, content_sha256, char_count, version, updated_at
      from thread_agents_doc where workspace_id = ? and status <> 'archived' order by id`,
} as const;

/** The whole tree, against reading the same rows in the same order and writing them as JSON. */
export const tree: Entry = {
  name: "tree",
  title: `thread/tree of ${THREADS} threads in ${FOLDERS} folders`,
  async run(bench: Bench): Promise<Row[]> {
    const dataDir = bench.directory();
    const workspace_id = await Seed.into(bench, dataDir, fill);
    const deps = await openLocal(bench, dataDir);
    const { readTree } = (await built()).tree;
    const read = await rawReader(bench, dataDir, workspace_id);
    const { url, token } = await startGateway(bench, dataDir);
    const caller = await Caller.open(bench, url, token);
    const { threads, folders } = await readTree(deps, { workspace_id });
    if (threads.length !== THREADS || folders.length !== FOLDERS) throw new Error("the tree is not whole");
    const series = await inTurns(bench.times(50, 10), {
      raw: () => milliseconds(() => JSON.stringify(read())),
      local: () => milliseconds(async () => JSON.stringify(await readTree(deps, { workspace_id }))),
      wire: () => milliseconds(() => caller.call("thread/tree", { workspace_id })),
    });
    const against = { name: "raw rows as JSON", samples: series.raw };
    const target = { of: "ratio", atMost: 3 } as const;
    return [
      row({ name: "in process", unit: "ms", samples: series.local, against, target }),
      row({ name: "over the wire", unit: "ms", samples: series.wire, against, target }),
    ];
  },
};

async function rawReader(bench: Bench, dataDir: string, workspace_id: string): Promise<() => object> {
  const raw = await RawSqlite.open(databaseFile(dataDir));
  bench.onEnd(() => raw.close());
  const threads = raw.prepare(RAW_QUERIES.threads);
  const folders = raw.prepare(RAW_QUERIES.folders);
  const docs = raw.prepare(RAW_QUERIES.docs);
  return () => ({ threads: threads(workspace_id), folders: folders(workspace_id), docs: docs(workspace_id) });
}

function fill(seed: Seed): string {
  const workspace = seed.workspace("Tree");
  const folders: string[] = [];
  for (let index = 0; index < FOLDERS; index++) {
    // Ten at the root, the others ten to a folder.
    const parent = index < 10 ? null : (folders[Math.floor(index / 10) - 1] ?? null);
    const folder = seed.folder(workspace, parent, `Folder ${index}`);
    if (index % DOCUMENT_EVERY === 0) seed.doc(workspace, folder, documentText(2_000));
    folders.push(folder);
  }
  for (let index = 0; index < THREADS; index++)
    seed.thread(workspace, folders[index % FOLDERS] ?? null, { index, of: THREADS });
  return workspace;
}
