import type { Command } from "commander";
import { examples, wholeNumber, workspaceOptions } from "../options.js";

export function addExplain(program: Command): void {
  const command = program
    .command("explain")
    .summary("what a model was told, section by section, and why")
    .description(
      "show what a model was told and why: each section with its source, size and cuts, the history, the tools",
    )
    .argument(
      "[run]",
      "a run's id; a thread's id for its latest run; with --thread a number (default: the latest)",
    )
    .option("--thread <id>", "the thread whose run it is")
    .option("--step <number>", "one call of the model within the run (default: the last)", wholeNumber(1))
    .option("--diff", "what is other than in the run before, with the text of what changed")
    .option("--exact", "print the request to the byte as it was sent, and nothing else");
  examples(
    workspaceOptions(command).addHelpText(
      "after",
      "\nFigures with ~ are estimates. --exact ends with 1 where the bytes can't be given back as they were.",
    ),
    "heddle explain",
    "heddle explain thr_01M7Z0K5V2 --diff",
    "heddle explain 3 --thread thr_01M7Z0K5V2 --step 1",
    "heddle explain run_01M7Z0K5V2 --exact | jq .messages",
  ).action(async (...args) => (await import("./explain/explain.js")).explain(args[0], args[1]));
}
