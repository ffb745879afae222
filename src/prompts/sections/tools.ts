import { z } from "zod";
import type { HookPackage } from "../../hooks/index.js";
import { onOneLine } from "./on-one-line.js";

/** The tools a run offers its model, as a section of its prompt. The run gives them to its hooks as `tools`. */
export function toolsPackage(): HookPackage {
  return {
    id: "heddle.prompt.tools",
    domain: "heddle.tools",
    contributes: ["prompt_section"],
    subscriptions: [
      {
        hook_id: "heddle.tools_prompt",
        phase: "turn.pre_prompt_compile",
        priority: 20,
        execution: "blocking",
        failure_policy: "fail_closed",
        visibility: "internal",
        budget: 16_000,
        looks_at: ["tools"],
        run({ tools }) {
          const content = listed(offeredSchema.parse(tools));
          if (content === undefined) return undefined;
          return {
            contributions: [
              { kind: "prompt_section", section_id: "tools", title: "Available tools", content },
            ],
          };
        },
      },
    ],
  };
}

/** A run that offers no tools need not say so. What is no list of tools fails: the section must not be missing unnoticed. */
const offeredSchema = z.array(z.object({ name: z.string().min(1), description: z.string() })).default([]);

/** By name, so that the same tools give the same bytes in whatever order they were registered. */
function listed(tools: z.output<typeof offeredSchema>): string | undefined {
  const lines = tools
    .filter(({ name }) => !name.startsWith("system_"))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name, description }) => `- ${[name, onOneLine(description)].filter(Boolean).join(": ")}`);
  return lines.length === 0 ? undefined : ["Available tools:", ...lines].join("\n");
}
