import { z } from "zod";
import type { Plugin } from "../plugin.js";
import { defineTool, type ToolDefinition } from "../tool.js";
import type { ServerLink } from "./link.js";
import type { ServerTool } from "./read-tools.js";

/** A server's tools as ours. Whoever may call them is decided by `mcp.<server>`, whatever they call themselves. */
export function pluginOf(link: ServerLink, id: string, names: ReadonlyMap<string, string>): Plugin {
  return {
    id,
    title: `MCP server ${link.name}`,
    description: `The tools of the MCP server ${link.name}.`,
    tools: link.tools.map((tool) => toolOf(link, tool, names.get(tool.name) as string)),
  };
}

function toolOf(link: ServerLink, tool: ServerTool, name: string): ToolDefinition {
  const { title, description, inputSchema, readOnly, idempotent } = tool;
  return defineTool({
    name,
    ...(title !== undefined && { title }),
    description,
    // The server checks its arguments itself.
    parameters: z.looseObject({}),
    jsonSchema: inputSchema,
    capabilities: [`mcp.${link.name}`],
    safeToRepeat: readOnly || idempotent,
    asks: !readOnly,
    run: (args, context) => link.call(tool, args, context),
  });
}
