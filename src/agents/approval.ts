import type { ListedTool } from "../tools/index.js";
import type { AgentDefinition } from "./definition.js";
import { denied as matched } from "./globs.js";

export type Approval = "allow" | "ask" | "deny";

/** Whether somebody is asked before an agent calls a tool. Of two lists that name it the stricter one counts. */
export function approvalFor(
  agent: Pick<AgentDefinition, "toolApprovals"> | undefined,
  { name, asks }: Pick<ListedTool, "name" | "asks">,
): Approval {
  const { allow, ask, deny } = agent?.toolApprovals ?? { allow: [], ask: [], deny: [] };
  if (matched(deny, name)) return "deny";
  if (matched(ask, name)) return "ask";
  if (matched(allow, name)) return "allow";
  return asks ? "ask" : "allow";
}
