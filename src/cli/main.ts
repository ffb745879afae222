import { withDefaultVerb } from "./default-verb.js";
import { helpWords } from "./help-words.js";
import { keepReportsPrivate } from "./private-reports.js";
import { createProgram } from "./program.js";
import { reportFailure } from "./report.js";

keepReportsPrivate();
const program = createProgram();
const given = helpWords(process.argv.slice(2), program);
const failed = (error: unknown) => {
  process.exitCode = reportFailure(error, { given, program });
};

// A reader that has seen enough (`heddle tree | head`) is no failure: what is under way is finished, unseen.
process.stderr.on("error", () => {});
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code !== "EPIPE") failed(error);
});

// Not awaited here: the parts that a command loads import this one, which would wait for them in turn.
program.parseAsync(withDefaultVerb(given), { from: "user" }).catch(failed);
