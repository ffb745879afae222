import { randomUUID } from "node:crypto";
import { closeSync, fdatasync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";
import type { Message } from "../../src/atsf/index.js";
import { type Bench, type Entry, inTurns, milliseconds, type Row, row, type Sampler } from "../harness.js";
import { median } from "../statistics.js";
import { built } from "../support/built.js";
import { Caller } from "../support/caller.js";
import { type GatewayProcess, startGateway } from "../support/child.js";
import { untilIdle } from "../support/wire.js";
import { textOf } from "../support/words.js";

const THREADS = 50;
const CHARS = 1_000;
/** Longer than the library's counts wait, and than the gateway's words do: what comes after an append is measured too. */
const PERIOD_MS = { raw: 300, local: 1_000, wire: 1_500 } as const;
const SETTLE_MS = 700;

/**
 * Messages one after the other, each on disk before the next, to one thread and to fifty at once; against a bare write
 * and flush of as many bytes to one file and to fifty.
 */
export const append: Entry = {
  name: "append",
  title: `append messages of ${CHARS} characters, flushed to disk, to 1 thread and to ${THREADS} at once`,
  async run(bench: Bench): Promise<Row[]> {
    const raw = rawFiles(bench);
    const local = await localThreads(bench);
    const { apart, together } = await wireThreads(bench);
    const series = await inTurns(
      bench.times(8, 2),
      {
        raw1: sustained(raw, 1),
        raw: sustained(raw),
        local1: sustained(local, 1),
        local: sustained(local),
        apart1: sustained(apart, 1),
        apart: sustained(apart),
        together: sustained(together),
      },
      1,
    );
    const one = { name: "write, fdatasync", samples: series.raw1.map(({ typical }) => typical) };
    const all = {
      name: `write, fdatasync, ${THREADS} files`,
      samples: series.raw.map(({ typical }) => typical),
    };
    const rate = { name: all.name, samples: series.raw.map(({ perSecond }) => perSecond) };
    const typical = (name: string, samples: readonly Sustained[], against: typeof one) =>
      row({ name, unit: "ms", samples: samples.map((each) => each.typical), against });
    const perSecond = (name: string, samples: readonly Sustained[]) =>
      row({ name, unit: "/s", samples: samples.map((each) => each.perSecond), against: rate });
    return [
      typical("1 thread, in process", series.local1, one),
      typical("1 thread, over the wire", series.apart1, one),
      typical(`${THREADS} threads, in process`, series.local, all),
      typical(`${THREADS} threads, over the wire, a workspace each`, series.apart, all),
      perSecond(`${THREADS} threads, in process`, series.local),
      perSecond(`${THREADS} threads, over the wire, a workspace each`, series.apart),
      perSecond(`${THREADS} threads, over the wire, one workspace, all hear all`, series.together),
    ];
  },
};

/** One place to append to, and one message after the other for it. */
type Append = () => Promise<unknown>;

interface Way {
  readonly appends: readonly Append[];
  readonly periodMs: number;
  /** Until nothing of it is left to do. */
  settle(): Promise<unknown>;
}

interface Sustained {
  /** Milliseconds half of the appends stay below. */
  readonly typical: number;
  readonly perSecond: number;
}

function sustained({ appends, periodMs, settle }: Way, count = appends.length): Sampler<Sustained> {
  return async () => {
    const times: number[] = [];
    const started = performance.now();
    await Promise.all(
      appends.slice(0, count).map(async (appendOne) => {
        while (performance.now() - started < periodMs) times.push(await milliseconds(appendOne));
      }),
    );
    const perSecond = (times.length * 1000) / (performance.now() - started);
    await settle();
    return { typical: median(times), perSecond };
  };
}

let counter = 0;

function newMessage(): Message {
  return {
    id: randomUUID(),
    role: "user",
    timestamp: new Date().toISOString(),
    content: [{ type: "text", text: textOf(CHARS, ++counter) }],
  };
}

function rawFiles(bench: Bench): Way {
  const dir = bench.directory();
  const flush = promisify(fdatasync);
  const appends = Array.from({ length: THREADS }, (_, index) => {
    const file = openSync(join(dir, `${index}.jsonl`), "a");
    bench.onEnd(() => closeSync(file));
    return () => {
      writeSync(file, `${JSON.stringify(newMessage())}\n`);
      return flush(file);
    };
  });
  return { appends, periodMs: PERIOD_MS.raw, settle: async () => {} };
}

async function localThreads(bench: Bench): Promise<Way> {
  const project = await (await built()).atsf.openProject(bench.directory());
  bench.onEnd(() => project.close());
  const appends: Append[] = [];
  for (let index = 0; index < THREADS; index++) {
    const agent = { id: "demo", name: "Demo" };
    const thread = await project.create({ threadId: `thread-${index}`, title: `Thread ${index}`, agent });
    appends.push(() => thread.append(newMessage()));
  }
  return { appends, periodMs: PERIOD_MS.local, settle: () => wait(SETTLE_MS) };
}

/** Fifty threads in as many workspaces, and fifty in one. */
async function wireThreads(bench: Bench): Promise<Record<"apart" | "together", Way>> {
  const gateway = await startGateway(bench, bench.directory());
  const caller = await Caller.open(bench, gateway.url, gateway.token);
  const newWorkspace = async () => (await caller.ask("workspace/create", { name: "Append" })).workspace.id;
  const apart: string[] = [];
  for (let index = 0; index < THREADS; index++) apart.push(await newWorkspace());
  const shared = await newWorkspace();
  const together = apart.map(() => shared);
  return { apart: await wireWay(bench, gateway, apart), together: await wireWay(bench, gateway, together) };
}

/** A thread and a connection for each of the workspaces named. */
async function wireWay(
  bench: Bench,
  { url, token }: GatewayProcess,
  workspaces: readonly string[],
): Promise<Way> {
  const appends: Append[] = [];
  for (const workspace_id of workspaces) {
    const caller = await Caller.open(bench, url, token);
    const { thread } = await caller.ask("thread/start", { workspace_id, title: "Append" });
    const { id: thread_id } = thread;
    appends.push(() => {
      const { role, content } = newMessage();
      return caller.call("message/append", { workspace_id, thread_id, message: { role, content } });
    });
  }
  const idle = await Caller.open(bench, url, token);
  const settle = () => untilIdle(idle, [...new Set(workspaces)]);
  return { appends, periodMs: PERIOD_MS.wire, settle };
}
