import { z } from "zod";
import type { HookPackage } from "../../hooks/index.js";
import { onOneLine } from "./on-one-line.js";

/**
 * The agents that one may hand work to, as a section of its prompt. The run gives them to its hooks as `agents`, and whether
 * it can ask any of them, by a tool or a command, as `delegates`.
 */
export function agentsPackage(): HookPackage {
  return {
    id: "heddle.prompt.agents",
    domain: "heddle.agents",
    contributes: ["prompt_section"],
    subscriptions: [
      {
        hook_id: "heddle.agents_prompt",
        phase: "turn.pre_prompt_compile",
        priority: 70,
        execution: "blocking",
        failure_policy: "fail_closed",
        visibility: "internal",
        budget: 16_000,
        looks_at: ["agents", "delegates"],
        run(context) {
          const { agents, delegates } = factsSchema.parse(context);
          // A list of whom to ask would only mislead one who can't.
          if (agents.length === 0 || !delegates) return undefined;
          return {
            contributions: [
              {
                kind: "prompt_section",
                section_id: "agents",
                title: "Available agents",
                content: listed(agents),
              },
            ],
          };
        },
      },
    ],
  };
}

const agentSchema = z.object({
  agentId: z.string().min(1),
  displayName: z.string(),
  description: z.string(),
});

const factsSchema = z.object({
  agents: z.array(agentSchema).default([]),
  delegates: z.boolean().default(false),
});

/** By id, so that the same agents give the same bytes in whatever order they were configured. */
function listed(agents: readonly z.output<typeof agentSchema>[]): string {
  const lines = agents
    .toSorted((a, b) => (a.agentId < b.agentId ? -1 : 1))
    .map(({ agentId, displayName, description }) => {
      const about = [displayName, description].map(onOneLine).filter(Boolean).join(" - ");
      return `- ${[onOneLine(agentId), about].filter(Boolean).join(": ")}`;
    });
  return [
    "Available agents you can delegate to:",
    ...lines,
    "",
    "Use agents_message to ask another agent to perform a task.",
  ].join("\n");
}
