import { z } from "zod";
import { type AgentDefinition, type AgentSet, peersOf } from "../../agents/index.js";
import { defineTool, type ToolDefinition } from "../../tools/index.js";
import type { RunsDeps } from "../deps.js";
import { callerOf } from "./caller.js";

/** Whom an agent can ask. */
export function agentsList(deps: () => RunsDeps): ToolDefinition {
  return defineTool({
    name: "agents_list",
    title: "List agents",
    description: "Lists the agents that you can ask, with what each is for.",
    parameters: z.strictObject({}),
    capabilities: ["agents.list"],
    safeToRepeat: true,
    async run(_args, context) {
      const { agents } = deps();
      const set = agents.in(context.workspace_id);
      const caller = await callerOf(deps(), context);
      const seen = caller ? peersOf(set, caller.agent) : visible(set);
      const listed = seen.map((agent) => {
        const { available, reason } = set.toWire(agent);
        const { agentId, displayName, description } = agent;
        return { agentId, displayName, description, available, ...(reason !== undefined && { reason }) };
      });
      return { status: "completed", output: JSON.stringify({ agents: listed }) };
    },
  });
}

/** What a person sees who calls it outside any thread. */
function visible(set: AgentSet): readonly AgentDefinition[] {
  const all = set.all.filter(({ uiVisible }) => uiVisible);
  return all.toSorted((a, b) => (a.agentId < b.agentId ? -1 : 1));
}
