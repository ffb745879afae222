import { type Repair, repair, threadPlaces } from "../../../atsf/index.js";
import { count, note, paint, paintErr, print, printJson, visible } from "../../output.js";
import { EXIT_FAILED } from "../../report.js";
import { asArgument } from "../agents-md/scope.js";
import { directoryGiven } from "./directory.js";
import { fileIn, type Tally, tallyIn, tallyText } from "./problem-text.js";
import { problemsIn } from "./problems-in.js";

interface RepairOptions {
  readonly json?: boolean;
  readonly dryRun?: boolean;
}

type Mended = Repair["problem"] & Partial<Pick<Repair, "done" | "failed">>;

export async function repairFiles(given: string | undefined, options: RepairOptions): Promise<void> {
  const { json, dryRun = false } = options;
  const dir = await directoryGiven(given);
  const places = await threadPlaces(dir, []);
  const data: Mended[] = [];
  for await (const each of dryRun ? toMend(places) : mended(places)) {
    data.push(each);
    if (!json) print(...mendedLines(dir, each));
  }
  const left = await remaining(places);
  const failed = data.filter((each) => each.failed).length;
  if (failed > 0) process.exitCode = EXIT_FAILED;
  if (json) return printJson({ dir, dry_run: dryRun, data, left });
  print(summary(data.length, failed, dryRun));
  const hands = dryRun ? left.errors + left.warnings - left.repairable : left.errors + left.warnings;
  if (hands === 0) return;
  const where = given === undefined ? "" : ` ${asArgument(given)}`;
  const what = dryRun ? count(hands, "problem") : tallyText(left);
  note(paintErr.dim(`Left for you: ${what}. \`heddle atsf validate${where}\` tells what to do.`));
}

async function* mended(places: readonly string[]): AsyncGenerator<Mended> {
  for (const place of places) {
    for await (const { problem, ...how } of repair(place)) yield { ...problem, ...how };
  }
}

async function* toMend(places: readonly string[]): AsyncGenerator<Mended> {
  for await (const problem of problemsIn(places)) if (problem.repairable) yield problem;
}

function mendedLines(dir: string, each: Mended): string[] {
  const { file, line, message } = each;
  const place = `${fileIn(dir, file)}${line === undefined ? "" : `:${line}`}`;
  return [`${paint.bold(place)}  ${visible(message)}`, `    ${outcome(each)}`];
}

function outcome({ advice, done, failed }: Mended): string {
  if (done === undefined) return paint.dim(`→ ${visible(advice)}`);
  return failed ? paint.red(`not mended: ${visible(done)}`) : paint.green(visible(done));
}

/** What no program may decide. */
async function remaining(places: readonly string[]): Promise<Tally> {
  const tally: Tally = { errors: 0, warnings: 0, repairable: 0 };
  for await (const problem of problemsIn(places)) tallyIn(tally, problem);
  return tally;
}

function summary(number: number, failed: number, dryRun: boolean): string {
  if (number === 0) return "There is nothing to mend.";
  if (dryRun) return `Nothing was changed. It would mend ${number}.`;
  return failed > 0 ? `Mended ${number - failed}, not ${failed}.` : `Mended ${number}.`;
}
