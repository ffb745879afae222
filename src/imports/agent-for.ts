import { knownProgram } from "../agents/index.js";
import type { ImportsDeps } from "./deps.js";
import type { Tool } from "./session.js";

/** Who goes on with a session: the agent that is its tool, where there is one; else whoever answers there. */
export function agentFor(
  deps: ImportsDeps,
  workspace_id: string,
  tool: Tool,
): { id: string; name: string; same: boolean } {
  const agents = deps.agents.in(workspace_id);
  const own = agents.all.find(
    ({ type, chat }) => type === "chat" && knownProgram(chat.provider, chat.config.open()) === tool,
  );
  const id = own?.agentId ?? agents.fallback;
  return { id, name: agents.nameOf(id) ?? id, same: own !== undefined };
}
