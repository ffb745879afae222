export const hookPhases = ["turn.pre_prompt_compile", "turn.post_prompt_compile", "turn.post_turn"] as const;
export type HookPhase = (typeof hookPhases)[number];

/** Names that will mean something later: who subscribes to one today would never be called and never know. */
export const reservedPhases = [
  "turn.pre_policy",
  "turn.pre_prompt_context",
  "turn.pre_tool_materialization",
] as const;

export const contributionKinds = ["prompt_section", "diagnostic"] as const;
export type ContributionKind = (typeof contributionKinds)[number];

export const executions = ["blocking", "deadline", "background"] as const;
export type Execution = (typeof executions)[number];

export const visibilities = ["internal", "debug", "user_visible"] as const;
export type Visibility = (typeof visibilities)[number];

/** What a phase can still use. A section that comes after the prompt was compiled would be lost without a word. */
export function kindsTaken(phase: HookPhase, execution: Execution): readonly ContributionKind[] {
  const inTime = phase === "turn.pre_prompt_compile" && execution !== "background";
  return inTime ? contributionKinds : ["diagnostic"];
}
