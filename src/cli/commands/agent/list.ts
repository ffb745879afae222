import type { Agent } from "../../../protocol/index.js";
import type { WorkspaceOptions } from "../../options.js";
import { note, paint, paintErr, print, printJson, printTable, visible } from "../../output.js";
import { withSession } from "../../session.js";
import { stateText } from "./state-text.js";

/** Those of the workspace the command works in: its project may name some. */
export async function listAgents(options: WorkspaceOptions & { readonly all?: boolean }): Promise<void> {
  const result = await withSession(options, async ({ call, workspace }) =>
    call("agent/list", {
      workspace_id: (await workspace()).id,
      ...(options.all && { include_hidden: true }),
    }),
  );
  if (options.json) return printJson(result);
  if (result.problem !== undefined) note(paintErr.yellow(visible(result.problem)));
  if (result.data.length === 0)
    return print(paint.dim("No agents, or hidden ones only: heddle agents --all"));
  printTable(["ID", "NAME", "PROVIDER", "MODEL", "STATE"], result.data.map(row));
}

function row(agent: Agent): string[] {
  const { agent_id, display_name, provider = "", model = "", type } = agent;
  return [
    visible(agent_id),
    visible(display_name),
    visible(type === "external" ? "external" : provider),
    visible(model),
    stateText(agent),
  ];
}
