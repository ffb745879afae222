import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { type Bench, type Entry, inTurns, type Row, row, type Sampler } from "../harness.js";
import { Caller } from "../support/caller.js";
import type { GatewayProcess } from "../support/child.js";
import { databaseFile } from "../support/local.js";
import { RawSqlite } from "../support/raw.js";
import { residentMegabytes } from "../support/resident.js";
import { AGENT, DirectCaller, QUESTION, startAsking, startFakeModel, TurnTaker } from "../support/turns.js";
import { untilIdle } from "../support/wire.js";
import { textOf } from "../support/words.js";

const AT_ONCE = 50;
const SUSTAINED = 8;
const REST_MS = 3_000;

/** Whole turns: asked, told, answered and settled, until the client knows of it. One client in one workspace. */
export const turns: Entry = {
  name: "turns",
  title: `turns of ${QUESTION} and ${QUESTION} characters, flushed to disk`,
  async run(bench: Bench): Promise<Row[]> {
    const way = await openWay(bench);
    const model = directTurns(bench, way.model);
    const seconds = bench.times(2, 1);
    const series = await inTurns(
      bench.times(10, 3),
      {
        directAtOnce: atOnce(AT_ONCE, model),
        atOnce: atOnce(AT_ONCE, way.turn),
        directSustained: sustained(SUSTAINED, seconds * 500, model),
        // A thread that is asked for seconds on end is soon longer than people's are.
        sustained: async () => sustained(SUSTAINED, seconds * 1000, await way.elsewhere(SUSTAINED))(),
      },
      1,
    );
    const bytes = await writtenBytes(way, bench.times(5, 2));
    await wait(REST_MS);
    const memory = residentMegabytes(way.gateway.child);
    return [
      row({
        name: `${AT_ONCE} turns at once in ${AT_ONCE} threads`,
        unit: "/s",
        samples: series.atOnce,
        against: { name: `direct calls, ${AT_ONCE} at once`, samples: series.directAtOnce },
        target: { of: "value", atLeast: 400 },
      }),
      row({
        name: `${SUSTAINED} threads, sustained`,
        unit: "/s",
        samples: series.sustained,
        against: { name: `direct calls, ${SUSTAINED} at a time`, samples: series.directSustained },
        target: { of: "value", atLeast: 300 },
      }),
      row({
        name: "a turn's growth on disk",
        unit: "KB",
        samples: bytes.map(({ kept }) => kept),
        target: { of: "value", atMost: 12 },
      }),
      row({ name: "a turn's writes, alone", unit: "KB", samples: bytes.map(({ alone }) => alone) }),
      row({
        name: `a turn's writes, ${SUSTAINED} at a time`,
        unit: "KB",
        samples: bytes.map(({ shared }) => shared),
      }),
      row({
        name: "memory after all of it",
        unit: "MB",
        samples: [memory],
        target: { of: "value", atMost: 180 },
      }),
    ];
  },
};

/** A turn in the thread of a number. */
type TakeTurn = (thread: number) => Promise<unknown>;

interface Way {
  readonly model: string;
  readonly gateway: GatewayProcess;
  readonly turn: TakeTurn;
  /** Turns in threads that nobody has used yet. */
  elsewhere(count: number): Promise<TakeTurn>;
  /** Until nothing of what was asked for is left to do. */
  idle(): Promise<void>;
  /** Bytes of everything the gateway keeps, its log folded in. */
  kept(): Promise<number>;
}

async function openWay(bench: Bench): Promise<Way> {
  const [root, dataDir] = [bench.directory(), bench.directory()];
  const model = await startFakeModel(bench);
  const gateway = await startAsking(bench, dataDir, model);
  // Only while it is needed: a second connection would be told of every turn as well.
  const asking = <T>(work: (caller: Caller) => Promise<T>) =>
    bench.part(async (part) => work(await Caller.open(part, gateway.url, gateway.token)));
  const workspace_id = await asking(
    async (caller) => (await caller.ask("workspace/create", { root_path: root })).workspace.id,
  );
  const taker = await TurnTaker.open(bench, gateway);
  let asked = 0;
  const elsewhere = async (count: number): Promise<TakeTurn> => {
    const threads = await asking((caller) => startThreads(caller, workspace_id, count));
    for (const thread_id of threads) await taker.follow(workspace_id, thread_id);
    return (thread) => taker.take(workspace_id, threads[thread] as string, textOf(QUESTION, ++asked));
  };
  return {
    model,
    gateway,
    turn: await elsewhere(AT_ONCE),
    elsewhere,
    idle: () => asking((caller) => untilIdle(caller, [workspace_id])),
    async kept() {
      const raw = await RawSqlite.open(databaseFile(dataDir));
      raw.exec("pragma wal_checkpoint(truncate)");
      raw.close();
      return bytesIn(root) + bytesIn(dataDir);
    },
  };
}

async function startThreads(caller: Caller, workspace_id: string, count: number): Promise<string[]> {
  const threads: string[] = [];
  while (threads.length < count) {
    const { thread } = await caller.ask("thread/start", { workspace_id, title: "Turns", agent_id: AGENT });
    threads.push(thread.id);
  }
  return threads;
}

function directTurns(bench: Bench, model: string): TakeTurn {
  const caller = new DirectCaller(bench, model);
  let asked = 0;
  return () => caller.ask([{ role: "user", content: textOf(QUESTION, ++asked) }]);
}

/** Turns a second when so many are asked for in the same instant. */
function atOnce(count: number, turn: TakeTurn): Sampler {
  return async () => {
    const started = performance.now();
    await Promise.all(Array.from({ length: count }, (_, thread) => turn(thread)));
    return (count * 1000) / (performance.now() - started);
  };
}

/** Turns a second when each of so many threads is asked again as soon as it has answered. */
function sustained(count: number, periodMs: number, turn: TakeTurn): Sampler {
  return async () => {
    const started = performance.now();
    let taken = 0;
    const keepOn = async (_: unknown, thread: number) => {
      for (; performance.now() - started < periodMs; taken++) await turn(thread);
    };
    await Promise.all(Array.from({ length: count }, keepOn));
    return (taken * 1000) / (performance.now() - started);
  };
}

const TURNS_WEIGHED = 100;

interface Weighed {
  readonly kept: number;
  readonly alone: number;
  readonly shared: number;
}

/** Kilobytes a turn leaves on disk, and those the process hands to the system for one: by itself, and beside others. */
async function writtenBytes(way: Way, rounds: number): Promise<Weighed[]> {
  const weighed: Weighed[] = [];
  for (let round = 0; round < rounds; round++) {
    const turn = await way.elsewhere(1);
    await way.idle();
    const kept = await way.kept();
    const alone = await written(way, 1, turn);
    await way.idle();
    const growth = ((await way.kept()) - kept) / TURNS_WEIGHED / 1000;
    weighed.push({
      kept: growth,
      alone,
      shared: await written(way, SUSTAINED, await way.elsewhere(SUSTAINED)),
    });
  }
  return weighed;
}

/** What the sockets take is counted as well; it is small beside the rest. */
async function written({ gateway, idle }: Way, threads: number, turn: TakeTurn): Promise<number> {
  const before = bytesHandedOver(gateway.child.pid);
  let left = TURNS_WEIGHED;
  const keepOn = async (_: unknown, thread: number) => {
    while (left-- > 0) await turn(thread);
  };
  await Promise.all(Array.from({ length: threads }, keepOn));
  await idle();
  return (bytesHandedOver(gateway.child.pid) - before) / TURNS_WEIGHED / 1000;
}

function bytesHandedOver(pid: number): number {
  return Number(/^write_bytes: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
}

function bytesIn(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}
