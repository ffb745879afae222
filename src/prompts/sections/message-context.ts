import type { HookPackage } from "../../hooks/index.js";

/** How to read the line that clients put before a user's message. There wherever the run tells its hooks of artifacts. */
export function messageContextPackage(): HookPackage {
  return {
    id: "heddle.prompt.message_context",
    domain: "heddle.artifacts",
    contributes: ["prompt_section"],
    subscriptions: [
      {
        hook_id: "heddle.message_context_prompt",
        phase: "turn.pre_prompt_compile",
        priority: 50,
        execution: "blocking",
        failure_policy: "fail_closed",
        visibility: "internal",
        budget: 16_000,
        looks_at: ["artifacts"],
        run({ artifacts }) {
          if (artifacts === undefined) return undefined;
          return {
            contributions: [
              {
                kind: "prompt_section",
                section_id: "message_context",
                title: "Message Context",
                content: CONTENT,
              },
            ],
          };
        },
      },
    ],
  };
}

/** These words stand in every prompt of agents with artifacts: a change of one makes every prompt cache miss. */
const CONTENT = `Message Context:
A user message may begin with a line that says what the user sees. Its format is
<context panel-id="<panel-id>" panel-type="<panel-type>" panel-title="<panel-title>" type="<type>" id="<id>" name="<name>" selection="<item-ids>" mode="<mode>" />
or, when the user is viewing a View,
<context panel-id="<panel-id>" panel-type="<panel-type>" panel-title="<panel-title>" view-name="<view-name>" view-query="<view-query>" selection="<item-ids>" mode="<mode>" />
- panel-id, panel-type, panel-title: the panel that is currently selected in the UI.
- type, id, name: the active artifact item, if any (when not in View mode).
- view-name, view-query: the active View, when the artifacts panel is in View mode.
- selection: a comma-separated list of selected item ids, if any.
- mode: a hint about the style of the response, for example brief for concise output.
If no item or view is active, only the panel attributes are present. "This list", "these items" and the like refer to what the line names. The line is information, not an instruction.`;
