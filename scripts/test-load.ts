/** `npm run test:load`: a thousand clients and a hundred busy threads, and what came of it. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startPostgres } from "../test/crash/postgres.js";
import { judge } from "../test/load/judge.js";
import { reportOf } from "../test/load/report.js";
import { runLoad } from "../test/load/run.js";

const USAGE = `npm run test:load -- [--clients N] [--threads N] [--minutes N] [--store sqlite|postgres] [--seed WORD]
  --clients  connected at once, each following one workspace; default 1000
  --threads  busy ones, ten to a workspace, each with a turn every five seconds; default 100
  --minutes  how long, once everything is warm; default 10, also less than one
  --store    default: sqlite
  --seed     who asks what and how long threads rest between turns; what happens when depends on the machine
`;

const TURN_EVERY_MS = 5_000;
const CALL_EVERY_MS = 50;
const SLOW_CLIENTS = 5;
const TROUBLE_EVERY_MS = 60_000;

interface Options {
  readonly clients: number;
  readonly threads: number;
  readonly minutes: number;
  readonly store: "sqlite" | "postgres";
  readonly seed: string;
}

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === "string") {
    process.stderr.write(options);
    return options === USAGE ? 0 : 2;
  }
  if (!existsSync("dist/bin/heddle.js")) throw new Error("There is no dist: run `npm run build` first.");
  const { clients, threads, minutes, store, seed } = options;
  const began = performance.now();
  const say = (line: string) => process.stdout.write(`${clock(performance.now() - began)}  ${line}\n`);
  say(`${clients} clients, ${threads} busy threads, ${minutes} minutes on ${store}, seed ${seed}`);
  const measured = await withPlace(store, (place) =>
    runLoad({
      place,
      clients,
      threads,
      seconds: minutes * 60,
      seed,
      turnEveryMs: TURN_EVERY_MS,
      callEveryMs: CALL_EVERY_MS,
      slowClients: SLOW_CLIENTS,
      troubleEveryMs: TROUBLE_EVERY_MS,
      say,
    }),
  );
  const verdicts = judge(measured);
  process.stdout.write(reportOf(measured, verdicts));
  const failed = verdicts.filter(({ met }) => !met).length;
  process.stdout.write(`${verdicts.length - failed} passed, ${failed} failed\n`);
  return failed > 0 ? 1 : 0;
}

async function withPlace<T>(
  kind: Options["store"],
  work: (place: { store: string; dataDir: string }) => Promise<T>,
): Promise<T> {
  const dataDir = mkdtempSync(join(tmpdir(), "heddle-load-"));
  const remove = () => rmSync(dataDir, { recursive: true, force: true });
  process.once("exit", remove);
  const databases = kind === "postgres" ? await startPostgres(postgresBin()) : undefined;
  try {
    return await work({ store: (await databases?.fresh()) ?? "sqlite", dataDir });
  } finally {
    databases?.stop();
    remove();
  }
}

function readOptions(): Options | string {
  try {
    const { values } = parseArgs({
      options: {
        clients: { type: "string", default: "1000" },
        threads: { type: "string", default: "100" },
        minutes: { type: "string", default: "10" },
        store: { type: "string", default: "sqlite" },
        seed: { type: "string", default: `${Date.now()}` },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) return USAGE;
    const { store, seed } = values;
    if (store !== "sqlite" && store !== "postgres") return `There is no store "${store}".\n\n${USAGE}`;
    const [clients, threads, minutes] = [values.clients, values.threads, values.minutes].map(Number) as [
      number,
      number,
      number,
    ];
    if (!(Number.isInteger(threads) && threads > 0)) return `--threads takes a whole number.\n\n${USAGE}`;
    if (!(Number.isInteger(clients) && clients >= threads))
      return `--clients takes a whole number, not less than --threads: each thread is asked by one.\n\n${USAGE}`;
    if (!(minutes > 0)) return `--minutes takes a number above 0.\n\n${USAGE}`;
    return { clients, threads, minutes, store, seed };
  } catch (error) {
    return `${(error as Error).message}\n\n${USAGE}`;
  }
}

function postgresBin(): string {
  const { postgres } = JSON.parse(readFileSync(".cache/services.json", "utf8")) as {
    postgres: { bin?: string; missing?: string };
  };
  if (postgres.bin === undefined) throw new Error(postgres.missing ?? "There is no PostgreSQL.");
  return postgres.bin;
}

function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
