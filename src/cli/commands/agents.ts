import type { Command } from "commander";
import { examples, workspaceOptions } from "../options.js";

export function addAgents(program: Command): void {
  const command = program
    .command("agents")
    .summary("list the agents, and whether each can be used")
    .description(
      "list the agents: those of heddle.config.json, else those that were found here; with an id, all about one",
    )
    .argument("[id]", "an agent: its limits, approvals and whom it may hand work to")
    .option("--all", "hidden ones too");
  examples(
    workspaceOptions(command),
    "heddle agents",
    "heddle agents general",
    "heddle agents --all --json",
  ).action(async (id, options) =>
    id === undefined
      ? (await import("./agent/list.js")).listAgents(options)
      : (await import("./agent/show.js")).showAgent(id, options),
  );
}
