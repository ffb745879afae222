import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { append } from "./entries/append.js";
import { browser } from "./entries/browser.js";
import { browserLong } from "./entries/browser-long.js";
import { firstToken } from "./entries/first-token.js";
import { index } from "./entries/index-files.js";
import { list } from "./entries/list.js";
import { manyTools } from "./entries/many-tools.js";
import { memory } from "./entries/memory.js";
import { newThread } from "./entries/new-thread.js";
import { notify } from "./entries/notify.js";
import { page } from "./entries/page.js";
import { ping } from "./entries/ping.js";
import { programs } from "./entries/programs.js";
import { resolve } from "./entries/resolve.js";
import { save } from "./entries/save.js";
import { search } from "./entries/search.js";
import { start } from "./entries/start.js";
import { tree } from "./entries/tree.js";
import { turns } from "./entries/turns.js";
import { Bench, type Entry } from "./harness.js";
import { comparable, newest, type Recorded, record, regressions, worse } from "./history.js";
import { closing, type EntryReport, misses, table, toJson, toMarkdown } from "./report.js";

const entries: readonly Entry[] = [
  resolve,
  tree,
  list,
  ping,
  start,
  memory,
  save,
  notify,
  append,
  page,
  index,
  newThread,
  search,
  firstToken,
  manyTools,
  turns,
  programs,
  browser,
  browserLong,
];

const HISTORY = fileURLToPath(new URL("history", import.meta.url));

const USAGE = `npm run bench -- [--quick] [--only NAME]... [--json FILE] [--markdown FILE] [--strict] [--record] [--check]
  --quick      fewer rounds: about two minutes
  --only       one entry; may be given several times: ${entries.map(({ name }) => name).join(", ")}
  --json       writes the figures to a file too
  --markdown   the same, as a document
  --strict     ends with 1 when a target is missed
  --record     keeps the figures as those of this version, in the history
  --check      ends with 1 when a ratio is worse than the newest release's, beyond its spread, twice in a row
  --history    where the history is (bench/history)
`;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === "string") {
    process.stderr.write(options);
    return 2;
  }
  const reports = await measure(options.chosen, options.quick);
  if (options.json !== undefined) writeFileSync(options.json, toJson(options, reports));
  if (options.markdown !== undefined)
    writeFileSync(options.markdown, toMarkdown("Benchmarks", options, reports));
  process.stdout.write(closing(reports));
  if (options.record) keep(options, reports);
  if (options.check && (await becameWorse(options, reports))) return 1;
  return options.strict && misses(reports).length > 0 ? 1 : 0;
}

async function measure(chosen: readonly Entry[], quick: boolean): Promise<EntryReport[]> {
  const reports: EntryReport[] = [];
  for (const entry of chosen) {
    const { rows, leftOut } = await runEntry(entry, quick);
    reports.push({ name: entry.name, title: entry.title, rows, leftOut });
    process.stdout.write(`${table(entry, rows, leftOut)}\n`);
  }
  return reports;
}

function keep({ history, quick }: Options, entries: readonly EntryReport[]): void {
  const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  const files = record(history, version, { quick, entries });
  process.stdout.write(`recorded in ${files.join(" and ")}\n`);
}

/** A machine that was busy for a while looks slow: what seems worse is measured once more before it is said to be. */
async function becameWorse(options: Options, reports: readonly EntryReport[]): Promise<boolean> {
  const recorded = newest(options.history);
  const why = recorded === undefined ? "nothing was recorded" : notComparable(recorded);
  if (recorded === undefined || why !== undefined) {
    process.stdout.write(`not compared: ${why}\n`);
    return false;
  }
  const first = regressions(recorded, reports);
  const again = options.chosen.filter(({ name }) => first.some(({ entry }) => entry === name));
  if (again.length > 0) process.stdout.write("Once more what seems slower:\n\n");
  const second = regressions(recorded, await measure(again, options.quick));
  const both = second.filter((one) => first.some(({ entry, row }) => entry === one.entry && row === one.row));
  process.stdout.write(
    both.length > 0 ? worse(both, recorded.version) : `no ratio is worse than in ${recorded.version}\n`,
  );
  return both.length > 0;
}

function notComparable(recorded: Recorded): string | undefined {
  if (comparable(recorded)) return undefined;
  return `${recorded.version} was measured with Node ${recorded.node}, this is ${process.version}`;
}

async function runEntry(entry: Entry, quick: boolean) {
  const bench = new Bench({ quick });
  const interrupted = () => void bench.end().then(() => process.exit(130));
  process.once("SIGINT", interrupted).once("SIGTERM", interrupted);
  try {
    return { rows: await entry.run(bench), leftOut: bench.leftOut };
  } finally {
    process.off("SIGINT", interrupted).off("SIGTERM", interrupted);
    await bench.end();
  }
}

interface Options {
  readonly chosen: readonly Entry[];
  readonly quick: boolean;
  readonly strict: boolean;
  readonly json: string | undefined;
  readonly markdown: string | undefined;
  readonly record: boolean;
  readonly check: boolean;
  readonly history: string;
}

/** Answers what to print when the command line is wrong, or asks for help. */
function readOptions(): Options | string {
  const flag = { type: "boolean", default: false } as const;
  try {
    const { values } = parseArgs({
      options: {
        quick: flag,
        strict: flag,
        help: flag,
        only: { type: "string", multiple: true },
        json: { type: "string" },
        markdown: { type: "string" },
        record: flag,
        check: flag,
        history: { type: "string", default: HISTORY },
      },
    });
    if (values.help) return USAGE;
    const unknown = values.only?.find((name) => !entries.some((entry) => entry.name === name));
    if (unknown !== undefined) return `There is no entry ${unknown}.\n${USAGE}`;
    const chosen = entries.filter(({ name }) => values.only?.includes(name) ?? true);
    const { json, markdown } = values;
    return { ...values, chosen, json, markdown };
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n${USAGE}`;
  }
}
