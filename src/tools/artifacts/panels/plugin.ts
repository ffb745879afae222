import { z } from "zod";
import type { Plugin } from "../../plugin.js";
import { defineTool, type ToolDefinition } from "../../tool.js";
import { pageOf } from "../page.js";
import type { Panels, ShownPanel } from "./panels.js";

export function panelsPlugin(panels: Panels): Plugin {
  return {
    id: "panels",
    title: "Panels",
    description: "Which panels people have open, and what these show.",
    tools: [
      panelTool("panels_list", {
        title: "Open panels",
        description: "Shows the panels that are open in people's windows.",
        find: (workspace_id) => panels.open(workspace_id),
      }),
      panelTool("panels_selected", {
        title: "Selected panel",
        description: "Shows the panel that is selected in each of people's windows.",
        find: (workspace_id) => panels.open(workspace_id).filter(({ selected }) => selected),
      }),
    ],
  };
}

const parameters = z.strictObject({
  includeContext: z
    .boolean()
    .optional()
    .describe("true: also what each panel shows and what is selected in it"),
});

function panelTool(
  name: string,
  given: { title: string; description: string; find(workspace_id: string): readonly ShownPanel[] },
): ToolDefinition {
  const { find, ...words } = given;
  return defineTool({
    name,
    ...words,
    parameters,
    capabilities: ["panels.read"],
    safeToRepeat: true,
    run({ includeContext = false }, { workspace_id }) {
      const found = find(workspace_id).map(({ context, ...panel }) => ({
        ...panel,
        ...(includeContext && context && { context: shortened(context) }),
      }));
      const { shown, truncated } = pageOf(found, { offset: 0, limit: found.length });
      const more = found.length - shown.length;
      const value = { panels: shown, ...(more > 0 && { more }) };
      return { status: "completed", output: JSON.stringify(value), ...(truncated && { truncated }) };
    },
  });
}

/** Ids of selected items that are shown; whoever selected more means all of a list. */
const MOST_SELECTED = 100;

function shortened(context: NonNullable<ShownPanel["context"]>) {
  const { selection = [] } = context;
  if (selection.length <= MOST_SELECTED) return context;
  const more = selection.length - MOST_SELECTED;
  return { ...context, selection: selection.slice(0, MOST_SELECTED), more_selected: more };
}
