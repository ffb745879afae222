import { z } from "zod";
import type { HookPackage } from "../../hooks/index.js";
import { onOneLine } from "./on-one-line.js";

/** The plugins whose tools an agent uses as commands, as a section of its prompt. The run gives them to its hooks as `skills`. */
export function skillsPackage(): HookPackage {
  return {
    id: "heddle.prompt.skills",
    domain: "heddle.skills",
    contributes: ["prompt_section"],
    subscriptions: [
      {
        hook_id: "heddle.skills_prompt",
        phase: "turn.pre_prompt_compile",
        priority: 30,
        execution: "blocking",
        failure_policy: "fail_closed",
        visibility: "internal",
        budget: 16_000,
        looks_at: ["skills"],
        run({ skills }) {
          const found = skillsSchema.parse(skills);
          if (found.length === 0) return undefined;
          return {
            contributions: [
              {
                kind: "prompt_section",
                section_id: "skills",
                title: "Available CLI skills",
                content: listed(found),
              },
            ],
          };
        },
      },
    ],
  };
}

const skillSchema = z.object({
  id: z.string().min(1),
  description: z.string(),
  skill_path: z.string().min(1),
  cli_path: z.string().min(1),
});

/** A run that has no skills need not say so. What is no list of skills fails: the section must not be missing unnoticed. */
const skillsSchema = z.array(skillSchema).default([]);

const INTRODUCTION = [
  "Available CLI skills:",
  "Use these through bash. Read a skill's SKILL.md before you use it for the first time; its commands are run as `<CLI> tool <name> …`.",
];

/** By id, so that the same skills give the same bytes in whatever order they were found. */
function listed(skills: readonly z.output<typeof skillSchema>[]): string {
  const entries = skills
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .flatMap(({ id, description, skill_path, cli_path }) => [
      `- ${[id, description].map(onOneLine).filter(Boolean).join(": ")}`,
      `  SKILL.md: ${onOneLine(skill_path)}`,
      `  CLI: ${onOneLine(cli_path)}`,
    ]);
  return [...INTRODUCTION, ...entries].join("\n");
}
