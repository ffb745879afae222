import { z } from "zod";
import type { HookPackage } from "../../hooks/index.js";
import { linesWithin } from "./lines-within.js";
import { onOneLine } from "./on-one-line.js";

const BUDGET = 16_000;

/** The open panels that show artifacts, as a section of the prompt. The run gives them to its hooks as `panels`. */
export function artifactPanelsPackage(): HookPackage {
  return {
    id: "heddle.prompt.artifact_panels",
    domain: "heddle.artifacts",
    contributes: ["prompt_section"],
    subscriptions: [
      {
        hook_id: "heddle.artifact_panels_prompt",
        phase: "turn.pre_prompt_compile",
        priority: 60,
        execution: "blocking",
        failure_policy: "fail_closed",
        visibility: "internal",
        budget: BUDGET,
        looks_at: ["panels"],
        run({ panels }) {
          const content = listed(panelsSchema.parse(panels));
          if (content === undefined) return undefined;
          return {
            contributions: [
              { kind: "prompt_section", section_id: "artifact_panels", title: "Artifacts Panels", content },
            ],
          };
        },
      },
    ],
  };
}

const panelsSchema = z
  .array(
    z.object({
      panel_id: z.string().min(1),
      panel_type: z.string(),
      context: z
        .object({
          type: z.string().optional(),
          id: z.string().optional(),
          name: z.string().optional(),
          view_name: z.string().optional(),
          view_query: z.string().optional(),
        })
        .optional(),
    }),
  )
  .default([]);

type Panel = z.output<typeof panelsSchema>[number];

const HEADING = "Open artifacts panels:";
const PANEL_TYPES: ReadonlySet<string> = new Set([
  "artifacts",
  "lists",
  "notes",
  "views",
  "list",
  "note",
  "view",
]);
const ITEM_TYPES: ReadonlySet<string> = new Set(["list", "note", "view"]);

/** By panel id. Which one is selected is left out: it changes with every click, and each message tells it itself. */
function listed(panels: readonly Panel[]): string | undefined {
  const lines = panels
    .filter(showsArtifacts)
    .map(({ panel_id, context }) => ({ panel_id, words: [onOneLine(panel_id), summaryOf(context)] }))
    .map(({ panel_id, words }) => ({ panel_id, line: `- ${words.filter(Boolean).join(": ")}` }))
    .sort((a, b) => compare(a.panel_id, b.panel_id) || compare(a.line, b.line))
    .map(({ line }) => line);
  const once = lines.filter((line, at) => line !== lines[at - 1]);
  return once.length === 0 ? undefined : linesWithin(HEADING, once, BUDGET).join("\n");
}

function showsArtifacts({ panel_type, context }: Panel): boolean {
  return (
    PANEL_TYPES.has(panel_type) || ITEM_TYPES.has(context?.type ?? "") || context?.view_name !== undefined
  );
}

/** What the panel shows: an item by type, name and id, or a View that may not be saved and so has no id. */
function summaryOf(context: Panel["context"]): string {
  if (!context) return "";
  const { type = "", id, name = "", view_name, view_query } = context;
  if (view_name !== undefined) {
    return ["view", view_name, view_query && `(query: ${view_query})`]
      .filter(Boolean)
      .map((w) => onOneLine(w as string))
      .join(" ");
  }
  return [type, name, id && `(${id})`]
    .filter(Boolean)
    .map((word) => onOneLine(word as string))
    .join(" ");
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
