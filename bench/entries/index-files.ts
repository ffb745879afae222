import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import {
  type Bench,
  type Entry,
  inTurns,
  milliseconds,
  type Row,
  row,
  typicalMilliseconds,
} from "../harness.js";
import { built } from "../support/built.js";
import { Caller } from "../support/caller.js";
import { startGateway } from "../support/child.js";
import { databaseFile } from "../support/local.js";
import { RawSqlite } from "../support/raw.js";
import { threadsDir, writeProject, writeThread } from "../support/thread-files.js";
import { sayAllWordsAreKnown } from "../support/wire.js";
import { textOf } from "../support/words.js";

const THREADS = 10_000;
const MESSAGES = 2;
const CHARS = 200;
const LIMIT = 100;
const CALLS = 5;
const LOOK_EVERY_MS = 20;

/** What one start of a gateway shows, in milliseconds since it said that it is ready. */
interface Start {
  /** The baseline, taken just before. */
  readonly bare: number;
  readonly answered: number;
  /** Until every thread can be listed. */
  readonly whole: number;
  readonly again: number;
}

/**
 * Ten thousand threads that are nothing but files: the first list of a gateway that has never seen them, and of one that
 * only has to look whether they changed. Against reading each `thread.json`, and looking at the two files of each.
 */
export const index: Entry = {
  name: "index",
  title: `${THREADS} threads as files: list ${LIMIT} of them right after the start`,
  async run(bench: Bench): Promise<Row[]> {
    const root = bench.directory();
    fill(root);
    const project = await (await built()).atsf.openProject(root);
    bench.onEnd(() => project.close());
    const { read, list } = await inTurns(bench.times(10, 3), {
      read: () => milliseconds(() => readAll(root)),
      list: () => milliseconds(() => project.list()),
    });
    const { cold, warm } = await starts(bench, root);
    const against = { name: READ, samples: read };
    return [
      row({ name: "in process, list of all", unit: "ms", samples: list, against }),
      startRow("cold, until it answers", cold, { each: "answered", baseline: READ }),
      startRow("cold, until all are listed", cold, { each: "whole", baseline: READ }),
      startRow("warm, until it answers", warm, { each: "answered", baseline: LOOK }),
      row({ name: "warm, again", unit: "ms", samples: warm.map(({ again }) => again) }),
    ];
  },
};

const READ = "readdir, read each thread.json";
const LOOK = "readdir, 2 stats each";

/** Each cold start begins with an empty store; the warm ones have what the first of them left. */
async function starts(bench: Bench, root: string): Promise<Record<"cold" | "warm", Start[]>> {
  const known = bench.directory();
  const empty = [known];
  return inTurns<"cold" | "warm", Start>(
    bench.times(6, 2),
    {
      cold: () =>
        bench.part((part) => start(part, { dataDir: empty.pop() ?? part.directory(), root, bare: readAll })),
      async warm() {
        await sayAllWordsAreKnown(known);
        return bench.part((part) => start(part, { dataDir: known, root, bare: lookAtAll }));
      },
    },
    0,
  );
}

function startRow(
  name: string,
  starts: readonly Start[],
  { each, baseline }: { each: "answered" | "whole"; baseline: string },
): Row {
  const against = { name: baseline, samples: starts.map(({ bare }) => bare) };
  return row({ name, unit: "ms", samples: starts.map((one) => one[each]), against });
}

async function start(
  bench: Bench,
  given: { dataDir: string; root: string; bare: (root: string) => void },
): Promise<Start> {
  const { dataDir, root } = given;
  const bare = await milliseconds(() => given.bare(root));
  const { url, token } = await startGateway(bench, dataDir);
  const ready = performance.now();
  const caller = await Caller.open(bench, url, token);
  const { workspace } = await caller.ask("workspace/create", { root_path: root });
  const list = () => caller.call("thread/list", { workspace_id: workspace.id, limit: LIMIT });
  await list();
  const answered = performance.now() - ready;
  await untilAllAreIndexed(bench, dataDir);
  const whole = performance.now() - ready;
  const again = await typicalMilliseconds(CALLS, list)();
  return { bare, answered, whole, again };
}

/** Asks the store past the gateway: asking it for every thread again and again would keep it from its work. */
async function untilAllAreIndexed(bench: Bench, dataDir: string): Promise<void> {
  const raw = await RawSqlite.open(databaseFile(dataDir));
  bench.onEnd(() => raw.close());
  const count = raw.prepare("select count(*) as threads from thread");
  while ((count()[0] as { threads: number }).threads < THREADS) await wait(LOOK_EVERY_MS);
}

function readAll(root: string): void {
  const dir = threadsDir(root);
  for (const name of readdirSync(dir)) JSON.parse(readFileSync(join(dir, name, "thread.json"), "utf8"));
}

function lookAtAll(root: string): void {
  const dir = threadsDir(root);
  for (const name of readdirSync(dir))
    for (const file of ["thread.json", "messages.jsonl"]) statSync(join(dir, name, file));
}

function fill(root: string): void {
  writeProject(root);
  for (let number = 0; number < THREADS; number++) {
    const text = (message: number) => textOf(CHARS, number * MESSAGES + message);
    writeThread(root, { number, messages: MESSAGES, text });
  }
}
