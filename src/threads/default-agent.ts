import type { ProjectConfig } from "../atsf/index.js";
import { workspaces } from "../store/index.js";
import type { KnownAgents, ThreadsDeps } from "./deps.js";
import { readHashedConfig } from "./trust.js";

/** Who answers in a thread of a workspace that is begun without naming anybody. */
export async function defaultAgent(deps: ThreadsDeps, workspace_id: string): Promise<string> {
  const agents = deps.agents.in(workspace_id);
  const workspace = await deps.store.read(() => workspaces.findWorkspace(workspace_id));
  if (!workspace) return agents.fallback;
  try {
    const { config } = await readHashedConfig(deps.files.directoryOf(workspace));
    return preferredAgent(agents, config);
  } catch {
    // A configuration that can't be read is told of where a thread is begun; a list must not fail by it.
    return agents.fallback;
  }
}

/** Whom the project prefers, if there is such an agent; else whoever is there. */
export function preferredAgent(
  agents: ReturnType<KnownAgents["in"]>,
  config: ProjectConfig | undefined,
): string {
  const preferred = config?.defaults?.agentId;
  return preferred !== undefined && agents.nameOf(preferred) !== undefined ? preferred : agents.fallback;
}
