import type { Agent } from "../../protocol/index.js";
import type { InsideDeps } from "../inside/caller.js";

/** Agents that can be asked, as models. */
export async function listModels({ domain }: InsideDeps, workspace_id: string, now: number) {
  await domain.agents.looked;
  const agents = domain.agents.in(workspace_id).list();
  return agents.filter(({ available }) => available).map((agent) => toModel(agent, now));
}

/** `created` says when a model was made, which nobody knows of an agent: it is there now. */
function toModel({ agent_id, display_name, description }: Agent, now: number) {
  return {
    id: agent_id,
    object: "model",
    created: Math.floor(now / 1000),
    owned_by: "heddle",
    name: display_name,
    description,
  };
}
