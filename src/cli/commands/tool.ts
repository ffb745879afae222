import type { Command } from "commander";
import { examples, workspaceOptions } from "../options.js";

export function addTool(program: Command): void {
  const command = program
    .command("tool")
    .summary("list the tools, or call one")
    .description(
      "list the tools, or call one: its parameters are options, `heddle tool NAME --help` shows them",
    )
    .argument("[name]", "the tool to call (default: list them all)")
    .argument("[options...]", "its own options, and --arguments, --thread, --workspace, --json")
    .option(
      "--thread <id>",
      "as this thread's agent could: in its directory and within its scope (or $HEDDLE_THREAD)",
    )
    .option("--arguments <json>", "arguments as one JSON object; - reads it from standard input")
    // What comes behind the name belongs to the tool.
    .passThroughOptions();
  examples(
    workspaceOptions(command).addHelpText(
      "after",
      `
Options of the gateway come before the name of the tool: behind it, --url or --token may be the tool's own.
A list is given by repeating its option, an object as JSON. Exit codes: 0 the tool did it, 1 it did not, 2 wrong usage.
In a command that an agent runs, $HEDDLE_URL, $HEDDLE_TOKEN and $HEDDLE_THREAD are set, and it is that thread that calls.`,
    ),
    "heddle tool",
    "heddle tool files_read --help",
    "heddle tool files_read --path README.md --limit 20",
    `echo '{"path": "README.md"}' | heddle tool files_read --arguments -`,
  ).action(async (name: string | undefined, words: string[], options) => {
    const { callTool, listTools } = await import("./tool/verbs.js");
    return name === undefined ? listTools(options) : callTool(name, words, options);
  });
}
