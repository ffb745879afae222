import { join } from "node:path";
import { type Bench, type Entry, inTurns, milliseconds, type Row, row } from "../harness.js";
import { built } from "../support/built.js";
import { Caller } from "../support/caller.js";
import { type GatewayProcess, startGateway } from "../support/child.js";
import { openLocal } from "../support/local.js";
import { RawSqlite } from "../support/raw.js";
import { documentText, Seed } from "../support/seed.js";

const SAVERS = 50;
const SAVES_EACH = 4;
const TEXT = documentText(1_000);

interface Scope {
  readonly workspace_id: string;
  readonly folder_id: string;
}

/**
 * Fifty savers at once, every save flushed to disk: over the wire against one small insert and commit after the other on
 * the same disk, and within the process against the same saves made one after the other, which shows what sharing a
 * commit is worth.
 */
export const save: Entry = {
  name: "save",
  title: `${SAVERS} savers at once, a document each, flushed to disk`,
  async run(bench: Bench): Promise<Row[]> {
    const dataDir = bench.directory();
    const { apart, together } = await Seed.into(bench, dataDir, fill);
    const insert = await rawInserts(bench);
    const local = await localSavers(bench);
    const gateway = await startGateway(bench, dataDir);
    const alone = await savers(bench, gateway, apart);
    const shared = await savers(bench, gateway, together);
    const series = await inTurns(bench.times(40, 12), {
      raw: () => perSecond(insert),
      apart: () => perSecond(() => saveAll(alone)),
      together: () => perSecond(() => saveAll(shared)),
      oneByOne: () => perSecond(() => saveInTurn(local)),
      local: () => perSecond(() => saveAll(local)),
    });
    const against = { name: "one insert, commit", samples: series.raw };
    const oneByOne = { name: "one after the other", samples: series.oneByOne };
    return [
      row({ name: "over the wire, a workspace each", unit: "/s", samples: series.apart, against }),
      row({
        name: "over the wire, one workspace, all hear all",
        unit: "/s",
        samples: series.together,
        against,
      }),
      row({ name: "in process", unit: "/s", samples: series.local, against: oneByOne }),
    ];
  },
};

async function perSecond(work: () => unknown): Promise<number> {
  return (SAVERS * SAVES_EACH * 1000) / (await milliseconds(work));
}

/** Makes one save of a new text. */
type Saver = () => Promise<unknown>;

let counter = 0;

function newText(): string {
  return `${TEXT}${++counter}`;
}

function savers(bench: Bench, { url, token }: GatewayProcess, scopes: readonly Scope[]): Promise<Saver[]> {
  return Promise.all(
    scopes.map(async (scope) => {
      const caller = await Caller.open(bench, url, token);
      return () => caller.call("thread/agents_doc/save", { ...scope, content: newText() });
    }),
  );
}

async function localSavers(bench: Bench): Promise<Saver[]> {
  const dataDir = bench.directory();
  const { apart } = await Seed.into(bench, dataDir, fill);
  const deps = await openLocal(bench, dataDir);
  const { saveDoc } = (await built()).instructions;
  const unset = { expected_version: undefined, save_reason: undefined };
  return apart.map((scope) => () => saveDoc(deps, { ...scope, ...unset, content: newText() }, {}));
}

async function saveAll(savers: readonly Saver[]): Promise<void> {
  await Promise.all(
    savers.map(async (saver) => {
      for (let time = 0; time < SAVES_EACH; time++) await saver();
    }),
  );
}

async function saveInTurn(savers: readonly Saver[]): Promise<void> {
  for (let time = 0; time < SAVES_EACH; time++) for (const saver of savers) await saver();
}

async function rawInserts(bench: Bench): Promise<() => void> {
  const raw = await RawSqlite.open(join(bench.directory(), "raw.db"));
  bench.onEnd(() => raw.close());
  raw.exec("create table saved (id integer primary key, content text not null)");
  const insert = raw.prepare("insert into saved (content) values (?)");
  return () => {
    for (let count = 0; count < SAVERS * SAVES_EACH; count++) {
      raw.exec("begin immediate");
      insert(newText());
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
