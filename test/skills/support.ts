import { z } from "zod";
import { defineTool, type Plugin, ToolRegistry } from "../../src/tools/index.js";

/** A tool that only has parameters. */
export function toolWith(name: string, parameters: z.ZodObject, description = `What ${name} does.`) {
  return defineTool({
    name,
    description,
    parameters,
    capabilities: ["test.use"],
    safeToRepeat: true,
    run: () => ({ status: "completed", output: "" }),
  });
}

export const notes: Plugin = {
  id: "notes",
  title: "Notes",
  description: "Short texts that stay.",
  guide: "Look for a note before you make one.\n",
  tools: [
    toolWith(
      "notes_add",
      z.object({
        text: z.string().describe("what it says"),
        tags: z.array(z.string()).optional(),
        pinned: z.boolean().default(false),
        color: z.enum(["red", "blue"]).optional().describe("how it looks"),
      }),
      "Adds a note.",
    ),
    toolWith("notes_list", z.object({}), "Lists the notes."),
  ],
};

/** A plugin and its tools, as lists show them. */
export function listed(plugin: Plugin) {
  const registry = new ToolRegistry();
  registry.setPlugin(plugin);
  return { plugins: registry.plugins(), tools: registry.list() };
}

/** The parameters of a tool, as lists show them. */
export function schemaOf(parameters: z.ZodObject): Readonly<Record<string, unknown>> {
  const { tools } = listed({ ...notes, tools: [toolWith("one", parameters)] });
  return tools[0]?.parameters ?? {};
}
