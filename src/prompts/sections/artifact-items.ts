import { z } from "zod";
import type { HookPackage } from "../../hooks/index.js";
import { linesWithin } from "./lines-within.js";
import { onOneLine } from "./on-one-line.js";

const BUDGET = 16_000;

/** The lists, notes and views of the workspace, as a section of the prompt. The run gives them to its hooks as `artifacts`. */
export function artifactItemsPackage(): HookPackage {
  return {
    id: "heddle.prompt.artifact_items",
    domain: "heddle.artifacts",
    contributes: ["prompt_section"],
    subscriptions: [
      {
        hook_id: "heddle.artifact_items_prompt",
        phase: "turn.pre_prompt_compile",
        priority: 40,
        execution: "blocking",
        failure_policy: "fail_closed",
        visibility: "internal",
        budget: BUDGET,
        looks_at: ["artifacts"],
        run({ artifacts }) {
          const content = grouped(itemsSchema.parse(artifacts));
          if (content === undefined) return undefined;
          return {
            contributions: [
              {
                kind: "prompt_section",
                section_id: "artifact_items",
                title: "Available artifact items",
                content,
              },
            ],
          };
        },
      },
    ],
  };
}

const itemsSchema = z
  .array(z.object({ type: z.enum(["list", "note", "view"]), id: z.string().min(1), name: z.string() }))
  .default([]);

type Item = z.output<typeof itemsSchema>[number];

const HEADING = "Available artifact items:";
const GROUPS: readonly (readonly [type: Item["type"], heading: string])[] = [
  ["list", "Lists:"],
  ["note", "Notes:"],
  ["view", "Views:"],
];

/** Each type has its share of the room: a thousand notes must not hide the one list. */
function grouped(items: readonly Item[]): string | undefined {
  const groups = GROUPS.map(([type, heading]) => ({ heading, lines: linesOf(items, type) })).filter(
    ({ lines }) => lines.length > 0,
  );
  if (groups.length === 0) return undefined;
  const room = Math.floor((BUDGET - HEADING.length) / groups.length) - 1;
  return [HEADING, ...groups.flatMap(({ heading, lines }) => linesWithin(heading, lines, room))].join("\n");
}

/** By id, so that the same items give the same bytes. */
function linesOf(items: readonly Item[], type: Item["type"]): string[] {
  return items
    .filter((item) => item.type === type)
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ name, id }) => `- ${onOneLine(name)} (${onOneLine(id)})`);
}
