import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
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
import { threadsDir, writeProject, writeThread } from "../support/thread-files.js";
import { followProject, sayAllWordsAreKnown } from "../support/wire.js";
import { textOf } from "../support/words.js";

const SIZES = [100, 10_000, 100_000] as const;
const [SHORTEST, , LONGEST] = SIZES;
const LIMIT = 50;
const CHARS = 1_000;
const CALLS = 5;
const WARM_UPS = 5;

const WAYS = {
  cold: "in process, newly opened",
  again: "in process, again",
  wire: "over the wire",
} as const;

/** The newest messages of a short, a long and a very long thread: the same work, if only the end of the log is read. */
export const page: Entry = {
  name: "page",
  title: `the last ${LIMIT} messages of ${SIZES.join(", ")}, ${CHARS} characters each`,
  async run(bench: Bench): Promise<Row[]> {
    const root = bench.directory();
    const threads = fill(root);
    const ways = { ...(await localWays(bench, root)), wire: await wireWay(bench, root), raw: rawWay(root) };
    const samplers: Record<string, Sampler> = {};
    for (const [index, size] of SIZES.entries())
      for (const [name, way] of Object.entries(ways))
        samplers[`${name} ${size}`] = typicalMilliseconds(CALLS, () => way(threads[index] ?? ""));
    const series = await inTurns(bench.times(60, 12), samplers, WARM_UPS);
    const samples = (way: string, size: number) => series[`${way} ${size}`] ?? [];
    return (["cold", "again", "wire"] as const).flatMap((way) => [
      ...SIZES.map((size) => sizeRow(`of ${size}, ${WAYS[way]}`, samples(way, size), samples("raw", size))),
      row({
        name: `flat? of ${LONGEST}, ${WAYS[way]}`,
        unit: "ms",
        samples: samples(way, LONGEST),
        against: { name: `of ${SHORTEST}`, samples: samples(way, SHORTEST) },
      }),
    ]);
  },
};

function sizeRow(name: string, samples: readonly number[], raw: readonly number[]): Row {
  const against = { name: "last bytes, parsed", samples: raw };
  return row({ name, unit: "ms", samples, against, target: { of: "value", atMost: 20 } });
}

function fill(root: string): string[] {
  writeProject(root);
  return SIZES.map((messages, number) =>
    writeThread(root, { number, messages, text: (index) => textOf(CHARS, index) }),
  );
}

type Way = (thread_id: string) => unknown;

async function localWays(bench: Bench, root: string): Promise<Record<"cold" | "again", Way>> {
  const { openProject } = (await built()).atsf;
  const kept = await openProject(root);
  bench.onEnd(() => kept.close());
  return {
    async cold(thread_id) {
      const project = await openProject(root);
      assertWhole((await (await project.thread(thread_id)).page(LIMIT)).entries);
      await project.close();
    },
    again: async (thread_id) => assertWhole((await (await kept.thread(thread_id)).page(LIMIT)).entries),
  };
}

async function wireWay(bench: Bench, root: string): Promise<Way> {
  const dataDir = bench.directory();
  await bench.part(async (part) => {
    const first = await followProject(part, { dataDir, root });
    await first.caller.call("thread/list", { workspace_id: first.workspace_id });
  });
  await sayAllWordsAreKnown(dataDir);
  const { caller, workspace_id } = await followProject(bench, { dataDir, root });
  return (thread_id) => caller.call("thread/messages", { workspace_id, thread_id, limit: LIMIT });
}

/** Reads as many bytes as the page has and parses its lines. */
function rawWay(root: string): Way {
  const lineBytes = CHARS + 200;
  return (thread_id) => {
    const file = openSync(join(threadsDir(root), thread_id, "messages.jsonl"), "r");
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, lineBytes * (LIMIT + 1)));
    readSync(file, bytes, 0, bytes.length, size - bytes.length);
    closeSync(file);
    const lines = bytes.toString().trimEnd().split("\n").slice(-LIMIT);
    assertWhole(lines.map((line) => JSON.parse(line)));
  };
}

function assertWhole(messages: readonly unknown[]): void {
  if (messages.length !== LIMIT) throw new Error(`a page has ${messages.length} messages`);
}
