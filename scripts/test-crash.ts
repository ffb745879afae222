/** `npm run test:crash`: kills gateways a thousand times under random work, and proves what clients were told. */
import { existsSync, readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { type CrashOptions, runCrashTest, type StoreChoice } from "../test/crash/run.js";

const USAGE = `npm run test:crash -- [--kills N] [--seed WORD] [--store sqlite|postgres|both] [--minutes N] [--jobs N] [--world N] [--no-disk]
  --kills    how many in all; default 1000, of which each world takes 40
  --seed     repeats the choices of a run that printed it; when things happen still depends on the machine
  --store    default: both, PostgreSQL for every fourth world where there is one
  --minutes  begins no further kill after so many minutes
  --jobs     worlds at the same time; default 2
  --world    only the one with this number, from 1
  --no-disk  leaves out full disks and flushes that fail
`;

for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));
process.exitCode = await main();

async function main(): Promise<number> {
  const options = readOptions();
  if (typeof options === "string") {
    process.stderr.write(options);
    return options === USAGE ? 0 : 2;
  }
  if (!existsSync("dist/bin/heddle.js")) throw new Error("There is no dist: run `npm run build` first.");
  const { passed, failed } = await runCrashTest(options);
  process.stdout.write(`${passed} passed, ${failed} failed\n`);
  return failed > 0 || passed === 0 ? 1 : 0;
}

function readOptions(): CrashOptions | string {
  try {
    const { values } = parseArgs({
      options: {
        kills: { type: "string", default: "1000" },
        seed: { type: "string", default: `${Date.now()}` },
        store: { type: "string", default: "both" },
        minutes: { type: "string", default: "600" },
        jobs: { type: "string", default: "2" },
        world: { type: "string" },
        "no-disk": { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) return USAGE;
    if (!["sqlite", "postgres", "both"].includes(values.store))
      return `There is no store "${values.store}".\n\n${USAGE}`;
    return {
      kills: wholeNumber("kills", values.kills),
      seed: values.seed,
      store: values.store as StoreChoice,
      minutes: wholeNumber("minutes", values.minutes),
      jobs: wholeNumber("jobs", values.jobs),
      world: values.world === undefined ? undefined : wholeNumber("world", values.world),
      disk: !values["no-disk"],
      postgresBin: postgresBin(),
    };
  } catch (error) {
    return `${(error as Error).message}\n\n${USAGE}`;
  }
}

function wholeNumber(name: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 1)
    throw new Error(`--${name} takes a whole number from 1 on, not "${text}".`);
  return number;
}

function postgresBin(): string | undefined {
  const services = JSON.parse(readFileSync(".cache/services.json", "utf8")) as { postgres: { bin?: string } };
  return services.postgres.bin;
}
