import type { Command } from "commander";
import { examples, workspaceOptions } from "../options.js";

const CONFIGURATION = `
In a client's configuration:
  {
    "mcpServers": {
      "heddle": { "command": "heddle", "args": ["mcp"] }
    }
  }
The client's tools are then agents_list, agents_message, threads_list, threads_read and agents_md_read. It works in the
workspace whose directory it is started in, else in Home; --workspace names another. What it asks is recorded as a thread.

It uses the gateway that is running. With none it runs one itself for as long as the client keeps it; other commands and
clients use that one meanwhile. Clients that can reach an address may use POST <gateway>/mcp with the gateway's token instead.

Where $HEDDLE_URL and $HEDDLE_TOKEN are those of a thread, as in a program that an agent runs as, it offers that thread's tools.
Standard output carries the protocol and nothing else; it ends when standard input does.`;

export function addMcp(program: Command): void {
  const command = program
    .command("mcp")
    .summary("offer the agents to another client, over MCP")
    .description(
      "an MCP server on standard input and output, for editors and other clients that start a command",
    );
  examples(
    workspaceOptions(command).addHelpText("after", CONFIGURATION),
    "claude mcp add heddle -- heddle mcp",
    "heddle mcp --workspace ~/projects/shop",
  ).action(async (options) => {
    const { serveMcp } = await import("./mcp/serve.js");
    return serveMcp(options);
  });
}
