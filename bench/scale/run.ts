import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { parseArgs } from "node:util";
import { type Databases, startPostgres } from "../../test/crash/postgres.js";
import {
  Bench,
  inTurns,
  milliseconds,
  type Row,
  row,
  type Sampler,
  typicalMilliseconds,
} from "../harness.js";
import { closing, type EntryReport, table, toJson, toMarkdown } from "../report.js";
import { Caller } from "../support/caller.js";
import type { GatewayProcess } from "../support/child.js";
import { residentMegabytes } from "../support/resident.js";
import { type Dialect, THREADS_PER_FOLDER, WHOLE } from "./fill.js";
import { makePlace, type OpenPlace, openPlace, type Place, startAt } from "./place.js";
import { questions } from "./questions.js";

const USAGE = `npm run scale -- [--threads N] [--few N] [--store sqlite|postgres|both] [--only TEXT] [--rounds N] [--json FILE] [--markdown FILE]
  --threads   in the large store; default 1000000, with a tenth as many folders
  --few       in the small one it is compared with; default 10000
  --store     default: both, PostgreSQL where there is one
  --only      only questions whose name has this in it; nothing of start-up and memory then
  --rounds    how often each question is asked of both, in turns; default 15
  --json      writes the figures to a file too
  --markdown  the same, as a document
`;

const CALLS = 3;
const STARTS = 3;
const LOOKED_MS = 120_000;
const IDLE_MS = 3_000;
const PING_MS = 10;
/** `ps` knows whole seconds. */
const IDLE_LOOK_MS = 5_000;
const IDLE_SHARE = 0.3;

interface Options {
  readonly threads: number;
  readonly few: number;
  readonly stores: readonly Dialect[];
  readonly only: string | undefined;
  readonly rounds: number;
  readonly json: string | undefined;
  readonly markdown: string | undefined;
}

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === "string") {
    process.stderr.write(options);
    return options === USAGE ? 0 : 2;
  }
  const reports: EntryReport[] = [];
  for (const dialect of options.stores) {
    const bench = new Bench({ quick: false });
    const interrupted = () => void bench.end().then(() => process.exit(130));
    process.once("SIGINT", interrupted).once("SIGTERM", interrupted);
    try {
      reports.push(await onStore(bench, dialect, options));
    } finally {
      process.off("SIGINT", interrupted).off("SIGTERM", interrupted);
      await bench.end();
    }
  }
  if (options.json !== undefined) writeFileSync(options.json, toJson({ quick: false }, reports));
  if (options.markdown !== undefined)
    writeFileSync(options.markdown, toMarkdown("Scale", { quick: false }, reports));
  process.stdout.write(closing(reports));
  return 0;
}

async function onStore(bench: Bench, dialect: Dialect, options: Options): Promise<EntryReport> {
  const { threads, few } = options;
  const name = `scale-${dialect}`;
  const title = `${threads} threads in ${threads / THREADS_PER_FOLDER} folders on ${dialect}, against ${few}`;
  const bin = postgresBin();
  if (dialect === "postgres" && bin === undefined)
    return { name, title, rows: [], leftOut: ["there is no PostgreSQL"] };
  const databases = dialect === "postgres" ? await startPostgres(bin as string) : undefined;
  if (databases) bench.onEnd(() => databases.stop());
  const places: Both<Place> = {
    few: await make(bench, dialect, few, databases),
    many: await make(bench, dialect, threads, databases),
  };
  const rows = [
    ...(options.only === undefined ? await starting(bench, places, few) : []),
    ...(await asking(bench, places, options)),
  ];
  process.stdout.write(`${table({ title }, rows)}\n`);
  return { name, title, rows };
}

type Both<T> = Readonly<Record<"few" | "many", T>>;

async function make(
  bench: Bench,
  dialect: Dialect,
  threads: number,
  databases: Databases | undefined,
): Promise<Place> {
  process.stdout.write(`filling ${dialect} with ${threads} threads … `);
  const began = performance.now();
  const place = await makePlace(bench, dialect, threads, databases);
  process.stdout.write(`${Math.round((performance.now() - began) / 1000)} s\n`);
  return place;
}

/** From the command to its ready line, and what everybody else notices while a workspace is looked at for the first time. */
async function starting(bench: Bench, places: Both<Place>, few: number): Promise<Row[]> {
  process.stdout.write("starting each several times, and looking at its largest workspace\n");
  const one = (place: Place) => bench.part((part) => firstMoments(part, place));
  const series = await inTurns(STARTS, { few: () => one(places.few), many: () => one(places.many) }, 1);
  const plan = (name: string, unit: "ms" | "MB", of: (moments: Moments) => number, atMost?: number): Row =>
    row({
      name,
      unit,
      samples: series.many.map(of),
      against: { name: `of ${few}`, samples: series.few.map(of) },
      ...(atMost !== undefined && { target: { of: "ratio", atMost } as const }),
    });
  return [
    plan("start to ready", "ms", ({ ready }) => ready, 2),
    plan("memory, idle", "MB", ({ idle }) => idle, 2),
    plan("first list of a workspace", "ms", ({ listed }) => listed),
    plan("slowest ping while it is looked through", "ms", ({ slowestPing }) => slowestPing),
    plan("memory after that", "MB", ({ opened }) => opened),
  ];
}

interface Moments {
  readonly ready: number;
  readonly idle: number;
  readonly listed: number;
  readonly slowestPing: number;
  readonly opened: number;
}

async function firstMoments(part: Bench, place: Place): Promise<Moments> {
  let gateway: GatewayProcess | undefined;
  const ready = await milliseconds(async () => {
    gateway = await startAt(part, place);
  });
  const { child, url, token } = gateway as GatewayProcess;
  await wait(IDLE_MS);
  const idle = residentMegabytes(child);
  const [caller, other] = [await Caller.open(part, url, token), await Caller.open(part, url, token)];
  let slowestPing = 0;
  let looking = true;
  const pinging = (async () => {
    while (looking) {
      slowestPing = Math.max(slowestPing, await milliseconds(() => other.call("ping", {})));
      await wait(PING_MS);
    }
  })();
  const listed = await milliseconds(() => caller.call("thread/list", { workspace_id: WHOLE, limit: 100 }));
  await caller.call("thread/search", { workspace_id: WHOLE, query: "nothing", limit: 1 });
  await untilIdle(gateway as GatewayProcess);
  looking = false;
  await pinging;
  return { ready, idle, listed, slowestPing, opened: residentMegabytes(child) };
}

/** Nobody says when a workspace was looked through: the gateway has nothing to do then. */
async function untilIdle({ child }: GatewayProcess): Promise<void> {
  const until = performance.now() + LOOKED_MS;
  for (let used = cpuMilliseconds(child.pid), idle = false; !idle && performance.now() < until; ) {
    await wait(IDLE_LOOK_MS);
    const now = cpuMilliseconds(child.pid);
    idle = now - used < IDLE_LOOK_MS * IDLE_SHARE;
    used = now;
  }
}

/** Of processor time since a process began. */
function cpuMilliseconds(pid: number): number {
  const text = execFileSync("ps", ["-o", "time=", "-p", String(pid)], { encoding: "utf8" });
  const [seconds = 0, minutes = 0, hours = 0] = text.trim().split(/[:-]/).map(Number).reverse();
  return ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

async function asking(bench: Bench, places: Both<Place>, options: Options): Promise<Row[]> {
  const open: Both<OpenPlace> = {
    few: await openPlace(bench, places.few),
    many: await openPlace(bench, places.many),
  };
  for (const { caller, gateway } of Object.values(open)) {
    await caller.call("thread/list", { workspace_id: WHOLE, limit: 1 });
    await untilIdle(gateway);
  }
  const rows: Row[] = [];
  for (const { name, atMost, calls = CALLS, ask } of questions) {
    if (options.only !== undefined && !name.includes(options.only)) continue;
    const sampler = (place: OpenPlace): Sampler => typicalMilliseconds(calls, () => ask(place));
    const series = await inTurns(options.rounds, { few: sampler(open.few), many: sampler(open.many) });
    const against = { name: `of ${options.few}`, samples: series.few };
    const target = atMost === undefined ? undefined : ({ of: "ratio", atMost } as const);
    rows.push(row({ name, unit: "ms", samples: series.many, against, ...(target && { target }) }));
    process.stdout.write(`${name}: ${rows.at(-1)?.ratio?.median.toFixed(2)} x\n`);
  }
  const held = (of: keyof Both<OpenPlace>) => [residentMegabytes(open[of].gateway.child)];
  const against = { name: `of ${options.few}`, samples: held("few") };
  return [...rows, row({ name: "memory after all of it", unit: "MB", samples: held("many"), against })];
}

function postgresBin(): string | undefined {
  try {
    return JSON.parse(readFileSync(".cache/services.json", "utf8")).postgres.bin;
  } catch {
    return undefined;
  }
}

function readOptions(): Options | string {
  try {
    const { values } = parseArgs({
      options: {
        threads: { type: "string", default: "1000000" },
        few: { type: "string", default: "10000" },
        store: { type: "string", default: "both" },
        only: { type: "string" },
        rounds: { type: "string", default: "15" },
        json: { type: "string" },
        markdown: { type: "string" },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) return USAGE;
    const stores = { sqlite: ["sqlite"], postgres: ["postgres"], both: ["sqlite", "postgres"] } as const;
    const chosen = stores[values.store as keyof typeof stores];
    if (chosen === undefined) return `There is no store "${values.store}".\n${USAGE}`;
    const [threads, few, rounds] = [values.threads, values.few, values.rounds].map(Number) as [
      number,
      number,
      number,
    ];
    if (![threads, few].every((size) => Number.isInteger(size / 1_000) && size > 0))
      return `--threads and --few take multiples of 1,000.\n${USAGE}`;
    if (!(rounds > 0)) return `--rounds takes a number above 0.\n${USAGE}`;
    return {
      threads,
      few,
      stores: chosen,
      only: values.only,
      rounds,
      json: values.json,
      markdown: values.markdown,
    };
  } catch (error) {
    return `${(error as Error).message}\n${USAGE}`;
  }
}
