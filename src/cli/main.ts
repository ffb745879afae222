#!/usr/bin/env node
import { withDefaultVerb } from "./default-verb.js";
import { createProgram } from "./program.js";
import { reportFailure } from "./report.js";

// A reader that has seen enough (`heddle tree | head`) is no failure: what is under way is finished, unseen.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
}

const given = process.argv.slice(2);
const program = createProgram();
try {
  await program.parseAsync(withDefaultVerb(given), { from: "user" });
} catch (error) {
  process.exitCode = reportFailure(error, { given, program });
}
