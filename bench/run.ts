import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { append } from "./entries/append.js";
import { browser } from "./entries/browser.js";
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
import { closing, type EntryReport, misses, table, toJson } from "./report.js";

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
];

const USAGE = `npm run bench -- [--quick] [--only NAME]... [--json FILE] [--strict]
  --quick    fewer rounds: about two minutes
  --only     one entry; may be given several times: ${entries.map(({ name }) => name).join(", ")}
  --json     writes the figures to a file too
  --strict   ends with 1 when a target is missed
`;

process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === "string") {
    process.stderr.write(options);
    return 2;
  }
  const reports: EntryReport[] = [];
  for (const entry of options.chosen) {
    const { rows, leftOut } = await runEntry(entry, options.quick);
    reports.push({ name: entry.name, title: entry.title, rows, leftOut });
    process.stdout.write(`${table(entry, rows, leftOut)}\n`);
  }
  if (options.json !== undefined) writeFileSync(options.json, toJson(options, reports));
  process.stdout.write(closing(reports));
  return options.strict && misses(reports).length > 0 ? 1 : 0;
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
      },
    });
    if (values.help) return USAGE;
    const unknown = values.only?.find((name) => !entries.some((entry) => entry.name === name));
    if (unknown !== undefined) return `There is no entry ${unknown}.\n${USAGE}`;
    const chosen = entries.filter(({ name }) => values.only?.includes(name) ?? true);
    return { chosen, quick: values.quick, strict: values.strict, json: values.json };
  } catch (error) {
    return `${error instanceof Error ? error.message : String(error)}\n${USAGE}`;
  }
}
