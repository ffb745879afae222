import type { Command } from "commander";
import { DATA_HELP, examples } from "../options.js";

export function addOpen(program: Command): void {
  const command = program
    .command("open")
    .summary("open the page of the running gateway")
    .description("open the page of the gateway that is running, signed in, and print its address")
    .option("--data <dir>", DATA_HELP)
    .option("--no-open", "only print the address")
    .option("--json", "print JSON, on one line");
  examples(
    command.addHelpText("after", "\nThe address lets one browser in, once, within ten minutes."),
    "heddle open",
    "heddle open --no-open",
  ).action(async (options) => (await import("./page/open.js")).open(options));
}
