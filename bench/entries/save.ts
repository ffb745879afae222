import { join } from "node:path";
import { type Bench, type Entry, inTurns, milliseconds, type Row, row } from "../harness.js";
import { Caller } from "../support/caller.js";
import { type GatewayProcess, startGateway } from "../support/child.js";
import { RawSqlite } from "../support/raw.js";
import { documentText, Seed } from "../support/seed.js";

const SAVERS = 50;
const SAVES_EACH = 4;
const TEXT = documentText(1_000);

interface Scope {
  readonly workspace_id: string;
  readonly folder_id: string;
}

/** Fifty savers at once, every save flushed to disk, against one insert and commit after the other on the same disk. */
export const save: Entry = {
  name: "save",
  title: `${SAVERS} savers at once, a document each, flushed to disk`,
  async run(bench: Bench): Promise<Row[]> {
    const dataDir = bench.directory();
    const { apart, together } = await Seed.into(dataDir, fill);
    const insert = await rawInserts(bench);
    const gateway = await startGateway(bench, dataDir);
    const alone = await savers(bench, gateway, apart);
    const shared = await savers(bench, gateway, together);
    const series = await inTurns(bench.times(25, 10), {
      raw: () => perSecond(insert),
      apart: () => perSecond(() => saveAll(alone)),
      together: () => perSecond(() => saveAll(shared)),
    });
    const against = { name: "insert, commit, one by one", samples: series.raw };
    return [
      row({ name: "in a workspace each", unit: "/s", samples: series.apart, against }),
      row({ name: "in one workspace, all hear all", unit: "/s", samples: series.together, against }),
    ];
  },
};

async function perSecond(work: () => unknown): Promise<number> {
  return (SAVERS * SAVES_EACH * 1000) / (await milliseconds(work));
}

interface Saver {
  readonly caller: Caller;
  readonly scope: Scope;
}

async function savers(
  bench: Bench,
  { url, token }: GatewayProcess,
  scopes: readonly Scope[],
): Promise<Saver[]> {
  return Promise.all(scopes.map(async (scope) => ({ caller: await Caller.open(bench, url, token), scope })));
}

let counter = 0;

async function saveAll(savers: readonly Saver[]): Promise<void> {
  await Promise.all(
    savers.map(async ({ caller, scope }) => {
      for (let time = 0; time < SAVES_EACH; time++)
        await caller.call("thread/agents_doc/save", { ...scope, content: `${TEXT}${++counter}` });
    }),
  );
}

async function rawInserts(bench: Bench): Promise<() => void> {
  const raw = await RawSqlite.open(join(bench.directory(), "raw.db"));
  bench.onEnd(() => raw.close());
  raw.exec("create table saved (id integer primary key, content text not null)");
  const insert = raw.prepare("insert into saved (content) values (?)");
  return () => {
    for (let count = 0; count < SAVERS * SAVES_EACH; count++) {
      raw.exec("begin immediate");
      insert(`${TEXT}${++counter}`);
      raw.exec("commit");
    }
  };
}

function fill(seed: Seed): { apart: Scope[]; together: Scope[] } {
  const indexes = Array.from({ length: SAVERS }, (_, index) => index);
  const shared = seed.workspace("Shared");
  const scopeIn = (workspace_id: string, index: number): Scope => {
    const folder_id = seed.folder(workspace_id, null, `Folder ${index}`);
    seed.doc(workspace_id, folder_id, TEXT);
    return { workspace_id, folder_id };
  };
  return {
    apart: indexes.map((index) => scopeIn(seed.workspace(`Workspace ${index}`), index)),
    together: indexes.map((index) => scopeIn(shared, index)),
  };
}
