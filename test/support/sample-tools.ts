import { z } from "zod";
import { defineTool, type ToolDefinition } from "../../src/tools/index.js";

const sample = (name: string, capabilities: string[], plugin: string): ToolDefinition =>
  defineTool({
    name,
    description: `Does ${name.replaceAll("_", " ")}.`,
    parameters: z.strictObject({}),
    capabilities,
    safeToRepeat: true,
    plugin,
    run: () => ({ status: "completed", output: "done" }),
  });

/** Tools such as the sample configuration of 002 names. */
export const sampleTools: readonly ToolDefinition[] = [
  sample("reading_list_add", ["lists.write"], "reading-list"),
  sample("reading_list_list", ["lists.read"], "reading-list"),
  sample("reading_list_search", ["lists.read"], "reading-list"),
  sample("reading_list_delete", ["lists.read"], "reading-list"),
  sample("reading_list_fetch", ["web.read"], "reading-list"),
  sample("todo_add", ["todo"], "todo"),
  sample("todo_list", ["todo"], "todo"),
  sample("journal_write", ["journal"], "journal"),
];
