import { type Command, Option } from "commander";
import { examples, workspaceOptions } from "../options.js";

export function addTrust(program: Command): void {
  const command = program
    .command("trust")
    .summary("show what a project's files would do here, and let them")
    .description(
      "show what a project's worktree hooks, heddle.config.json and .mcp.json would do here, and let them",
    )
    .addOption(new Option("--kind <kind>", "only this").choices(["hooks", "config", "mcp"]))
    .option("--yes", "trust what is shown without asking")
    .option("--revoke", "take back what was trusted, now or earlier");
  examples(
    workspaceOptions(command).addHelpText(
      "after",
      `
A repository may ask for links and commands whenever a thread gets a worktree of its own, and name agents and MCP servers.
Nothing of it is used until you have trusted it, word for word: when the project changes it, it waits for you again.`,
    ),
    "heddle trust",
    "heddle trust --kind mcp",
    "heddle trust --workspace ~/src/shop --json",
    "heddle trust --revoke",
  ).action(async (options) => {
    if (options.revoke) return (await import("./trust/revoke.js")).revokeTrust(options);
    return (await import("./trust/show-and-trust.js")).showAndTrust(options);
  });
}
