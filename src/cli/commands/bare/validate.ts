import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Problem, threadPlaces } from "../../../atsf/index.js";
import { note, paint, paintErr, print, printJson } from "../../output.js";
import { EXIT_FAILED } from "../../report.js";
import { asArgument } from "../agents-md/scope.js";
import { directoryGiven } from "./directory.js";
import { problemLines, type Tally, tallyIn, tallyText } from "./problem-text.js";
import { problemsIn } from "./problems-in.js";

export async function validateFiles(given: string | undefined, { json }: { json?: boolean }): Promise<void> {
  const dir = await directoryGiven(given);
  const places = await threadPlaces(dir, []);
  const problems: Problem[] = [];
  const tally: Tally = { errors: 0, warnings: 0, repairable: 0 };
  for await (const problem of problemsIn(places)) {
    tallyIn(tally, problem);
    if (json) problems.push(problem);
    else print(...problemLines(dir, problem));
  }
  if (tally.errors > 0) process.exitCode = EXIT_FAILED;
  if (json) return printJson({ dir, ok: tally.errors === 0, ...tally, problems });
  if (!places.some((place) => existsSync(join(place, ".agent"))))
    return print(paint.dim(`No threads here: there is no .agent in ${dir}`));
  const verdict = tallyText(tally);
  print(
    tally.errors > 0 ? paint.red(verdict) : tally.warnings > 0 ? paint.yellow(verdict) : paint.green(verdict),
  );
  if (tally.repairable > 0) {
    const where = given === undefined ? "" : ` ${asArgument(given)}`;
    note(paintErr.dim(`\`heddle atsf repair${where}\` mends ${tally.repairable} of them.`));
  }
}
