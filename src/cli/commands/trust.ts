import type { Command } from "commander";
import { examples, workspaceOptions } from "../options.js";

export function addTrust(program: Command): void {
  const command = program
    .command("trust")
    .description("show what a project's worktree hooks would do here, and let them run")
    .option("--yes", "trust what is shown without asking");
  examples(
    workspaceOptions(command).addHelpText(
      "after",
      `
A repository may ask for links and commands whenever a thread gets a worktree of its own. They run only once you have
trusted them, word for word: when the project's .agent/config.json changes them, they wait for you again.`,
    ),
    "heddle trust",
    "heddle trust --workspace ~/src/shop --json",
  ).action(async (options) => (await import("./trust/show-and-trust.js")).showAndTrust(options));
}
