import type { Command } from "commander";
import { examples, workspaceOptions } from "../options.js";

const PACK = "its name (default: what agent.workspace.json names, else `default`)";

export function addPrompts(program: Command): void {
  const group = program
    .command("prompts")
    .summary("read prompt packs and put them to use")
    .description(
      "prompt packs: base prompts in the project's files, prompts/packs/NAME.json. What is edited counts once it was synced and applied",
    );
  addReading(group);
  addUsing(group);
}

function addReading(group: Command): void {
  workspaceOptions(
    group
      .command("status")
      .description("what is in use and what waits of each pack (what `heddle prompts` does)")
      .argument("[pack]", "only this one")
      .option("--thread <id>", "only the one that this thread uses"),
  ).action(async (...args) => (await import("./pack/status.js")).status(args[0], args[1]));
  workspaceOptions(
    group
      .command("packs")
      .description("list the packs of the project, those that can't be used with the reason")
      .option("--version <revision>", "as of a git revision (default: the working tree)"),
  ).action(async (options) => (await import("./pack/list.js")).packs(options));
}

function addUsing(group: Command): void {
  examples(
    workspaceOptions(
      group
        .command("sync")
        .description("read a pack; nothing uses it until it is applied")
        .argument("[pack]", PACK)
        .option("--version <revision>", "as of a git revision (default: the working tree)")
        .option("--thread <id>", "and let this thread use the pack"),
    ),
    "heddle prompts sync",
    "heddle prompts sync review --version v1.2 --thread thr_01M7Z0K5V2",
  ).action(async (...args) => (await import("./pack/sync.js")).sync(args[0], args[1]));
  examples(
    workspaceOptions(
      group
        .command("apply")
        .description(
          "put what was read to use, from the next run on; a run under way keeps what it began with",
        )
        .argument("[pack]", PACK)
        .option("--thread <id>", "the pack that this thread uses")
        .option("--when-idle", "when the runs that are under way with it have ended"),
    ),
    "heddle prompts sync && heddle prompts apply",
  ).action(async (...args) => (await import("./pack/apply.js")).apply(args[0], args[1]));
}
