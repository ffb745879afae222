import { z } from "zod";
import { answered, defineClientTool, workspaceArgument } from "./client-tool.js";

/** The agents that a client can ask. */
export const agentsList = defineClientTool({
  name: "agents_list",
  title: "List agents",
  description: "Lists the agents that you can ask, with what each is for and whether it can be used now.",
  parameters: z.strictObject({ workspace: workspaceArgument }),
  readOnly: true,
  async run({ workspace }, { call, ...context }) {
    const { id, name } = await context.workspace(workspace);
    const { data } = await call("agent/list", { workspace_id: id });
    const agents = data.map(({ agent_id, display_name, description, available, reason, model }) => ({
      agentId: agent_id,
      displayName: display_name,
      description,
      ...(model !== undefined && { model }),
      available,
      ...(reason !== undefined && { reason }),
    }));
    return answered({ workspace: { id, name }, agents });
  },
});
