import { type Bench, type Entry, inTurns, microsecondsEach, type Row, row } from "../harness.js";
import { built } from "../support/built.js";
import { databaseFile, openLocal } from "../support/local.js";
import { RawSqlite } from "../support/raw.js";
import { documentText, Seed } from "../support/seed.js";

const LEVELS = 20;
const OTHER_FOLDERS = 1_000;
const CALLS = 200;

/** The way up and the nearest document on it, as one would write it by hand for this one question. */
const RAW_QUERY = `
  with recursive up(id, parent_folder_id, name, depth) as (
    select f.id, f.parent_folder_id, f.name, 0
      from thread_placement p join thread_folder f on f.id = p.folder_id
      where p.workspace_id = ?1 and p.thread_id = ?2
    union all
    select f.id, f.parent_folder_id, f.name, up.depth + 1
      from up join thread_folder f on f.id = up.parent_folder_id
  )
  select up.depth as depth, up.id as folder_id, up.name as name, d.id as doc_id, d.version, d.content, d.content_sha256
    from up left join thread_agents_doc d
      on d.workspace_id = ?1 and d.folder_id = up.id and d.status <> 'archived' and d.status = 'active'
  union all
  select 1000, null, null, d.id, d.version, d.content, d.content_sha256
    from thread_agents_doc d
    where d.workspace_id = ?1 and d.folder_id is null and d.status <> 'archived' and d.status = 'active'
  order by depth`;

/** Resolves the AGENTS.md of a thread 20 folders deep; the only document on its way is the root's. */
export const resolve: Entry = {
  name: "resolve",
  title: `resolve AGENTS.md through ${LEVELS} levels, beside ${OTHER_FOLDERS} other folders with documents`,
  async run(bench: Bench): Promise<Row[]> {
    const dataDir = bench.directory();
    const { workspace, thread } = await Seed.into(bench, dataDir, fill);
    const { store } = await openLocal(bench, dataDir);
    const { Resolver } = (await built()).instructions;
    const raw = await RawSqlite.open(databaseFile(dataDir));
    bench.onEnd(() => raw.close());
    const query = raw.prepare(RAW_QUERY);
    const warm = new Resolver(store);
    const cold = async () => {
      const resolver = new Resolver(store);
      const walk = await resolver.walkForThread(workspace, thread);
      resolver.close();
      return walk;
    };
    const walk = await cold();
    if (
      walk.levels.length !== LEVELS ||
      walk.nearest?.level !== LEVELS ||
      query(workspace, thread).length !== LEVELS + 1
    )
      throw new Error("the walk did not go all the way");
    const series = await inTurns(bench.times(150, 30), {
      raw: microsecondsEach(CALLS, () => query(workspace, thread)),
      cold: microsecondsEach(CALLS, cold),
      warm: microsecondsEach(CALLS * 10, () => warm.walkForThread(workspace, thread)),
    });
    const against = { name: "raw recursive query", samples: series.raw };
    return [
      row({ name: "cold", unit: "us", samples: series.cold, against, target: { of: "ratio", atMost: 3 } }),
      row({
        name: "again, unchanged",
        unit: "us",
        samples: series.warm,
        against,
        target: { of: "value", atMost: 20 },
      }),
    ];
  },
};

function fill(seed: Seed): { workspace: string; thread: string } {
  const workspace = seed.workspace("Resolve");
  seed.doc(workspace, null, documentText(4_000));
  let folder: string | null = null;
  for (let level = 1; level <= LEVELS; level++) folder = seed.folder(workspace, folder, `Level ${level}`);
  const { id: thread } = seed.thread(workspace, folder, { index: 0, of: 1 });
  for (let index = 0; index < OTHER_FOLDERS; index++) {
    const other = seed.folder(workspace, null, `Folder ${index}`);
    seed.doc(workspace, other, documentText(1_000));
    seed.thread(workspace, other, { index, of: OTHER_FOLDERS });
  }
  return { workspace, thread };
}
