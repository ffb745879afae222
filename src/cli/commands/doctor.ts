import type { Command } from "commander";
import { DATA_HELP, examples, storeAddress } from "../options.js";
import { paint, print, printJson } from "../output.js";
import { EXIT_FAILED } from "../report.js";
import type { Check, DoctorOptions } from "./doctor/check.js";

export function addDoctor(program: Command): void {
  const command = program
    .command("doctor")
    .description("check this installation; needs no gateway and changes nothing")
    .option("--json", "print JSON, on one line")
    .option("--data <dir>", DATA_HELP)
    .option(
      "--store <store>",
      "the store to look at: `sqlite`, or a postgres:// address",
      storeAddress,
      "sqlite",
    );
  examples(command, "heddle doctor", "heddle doctor --store postgres://me@localhost/heddle").action(doctor);
}

const MARKS = {
  ok: paint.green("✓"),
  none: paint.dim("–"),
  warning: paint.yellow("!"),
  broken: paint.red("✗"),
};

async function doctor(options: DoctorOptions & { json?: boolean }): Promise<void> {
  const { runChecks } = await import("./doctor/run.js");
  const checks = await runChecks(options);
  const broken = checks.filter(({ verdict }) => verdict === "broken").length;
  if (broken > 0) process.exitCode = EXIT_FAILED;
  if (options.json) return printJson({ ok: broken === 0, checks });
  for (const check of checks) print(...describe(check));
  const verdict = broken === 0 ? paint.green("Everything needed works.") : paint.red(`Broken: ${broken}.`);
  print("", verdict);
}

function describe({ name, verdict, detail, advice }: Check): string[] {
  const line = `${MARKS[verdict]} ${name.padEnd(9)}  ${detail}`;
  return advice === undefined ? [line] : [line, `${" ".repeat(13)}${paint.dim(`→ ${advice}`)}`];
}
