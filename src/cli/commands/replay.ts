import type { Command } from "commander";
import { examples, workspaceOptions } from "../options.js";

export function addReplay(program: Command): void {
  const command = program
    .command("replay")
    .summary("prove runs from their record")
    .description(
      "prove a run from its record: nothing was changed, its state follows from its events, its prompts from their inputs",
    )
    .argument(
      "[run]",
      "a run's id; a thread's id for all its runs; with --thread a number (default: the latest run)",
    )
    .option("--thread <id>", "the thread whose run it is")
    .option("--all", "every run: of the thread that is named, else of the workspace");
  examples(
    workspaceOptions(command).addHelpText(
      "after",
      "\nNo model is asked and no tool is called. It ends with 1 when anything could not be proved.",
    ),
    "heddle replay run_01M7Z0K5V2",
    "heddle replay thr_01M7Z0K5V2",
    "heddle replay --all",
  ).action(async (...args) => (await import("./run/replay.js")).replay(args[0], args[1]));
}
