import type { Command } from "commander";
import { examples, wholeNumber } from "../options.js";

const DIR = "a project directory, or a worktree (default: the current one)";

/** Each verb is loaded only when it is asked for. None of them needs a gateway, or starts one. */
export function addAtsf(program: Command): void {
  const group = program
    .command("atsf")
    .summary("check, repair or show thread files in a directory, without a gateway")
    .description(
      "thread files as they are on disk (Agent Thread Storage Format): below .agent/ in any directory, no gateway needed",
    );
  examples(
    plain(
      group
        .command("validate")
        .description(
          "tell everything that is wrong in a directory and its git worktrees, with file, line and advice; changes nothing",
        )
        .argument("[dir]", DIR),
    ).addHelpText("after", "\nEnds with 1 when there are errors, with 0 when there are warnings only."),
    "heddle atsf validate",
    "heddle atsf validate ~/src/shop --json",
  ).action(async (...args) => (await import("./bare/validate.js")).validateFiles(args[0], args[1]));
  examples(
    plain(
      group
        .command("repair")
        .description(
          "mend what can be mended in a directory and its git worktrees; what is replaced or cut off is kept beside it",
        )
        .argument("[dir]", DIR)
        .option("--dry-run", "only say what would be mended"),
    ),
    "heddle atsf repair --dry-run",
    "heddle atsf repair ~/src/shop",
  ).action(async (...args) => (await import("./bare/repair.js")).repairFiles(args[0], args[1]));
  examples(
    plain(
      group
        .command("show")
        .description("list the threads of a directory and of its git worktrees, or show one of them")
        .argument("[dir]", DIR)
        .argument("[thread]", "a thread's id: what its thread.json says, and its last messages")
        .option("--limit <number>", "how many messages of one thread at most", wholeNumber(1), 10),
    ),
    "heddle atsf show",
    "heddle atsf show . thr_01M7Z0K5V2 --limit 50",
  ).action(async (...args) => (await import("./bare/show.js")).showFiles(args[0], args[1], args[2]));
}

function plain(command: Command): Command {
  return command.option("--json", "print JSON, on one line");
}
