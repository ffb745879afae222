import type { ListedPlugin, ListedTool } from "../tools/index.js";
import type { AgentDefinition } from "./definition.js";
import { effectiveTools, type ScopedTool } from "./effective-tools.js";
import { allowed, denied } from "./globs.js";

/** The tool through which skills are used: it is offered however tools are exposed. */
const SHELL = "bash";

/** Which tools a model is shown. What is only exposed as a skill is within its scope, but not shown as a tool. */
export function exposedTools(
  agent: AgentDefinition | undefined,
  tools: readonly ListedTool[],
): readonly ScopedTool[] {
  const scoped = effectiveTools(agent, tools);
  if (agent?.toolExposure !== "skills") return scoped;
  const shown = hidden.get(scoped) ?? hideTools(scoped);
  hidden.set(scoped, shown);
  return shown;
}

const hidden = new WeakMap<readonly ScopedTool[], readonly ScopedTool[]>();

function hideTools(scoped: readonly ScopedTool[]): readonly ScopedTool[] {
  return scoped.map(({ tool, offered, reason }) => {
    if (!offered || tool.name === SHELL || tool.name.startsWith("system_"))
      return reason === undefined ? { tool, offered } : { tool, offered, reason };
    return {
      tool,
      offered: false,
      reason: "used as a skill, through bash: the agent's toolExposure is skills",
    };
  });
}

/** The plugins whose tools an agent uses as commands. Without a shell it can't use any. */
export function skillsOf(
  agent: AgentDefinition | undefined,
  tools: readonly ListedTool[],
  plugins: readonly ListedPlugin[],
): readonly ListedPlugin[] {
  if (!agent || agent.toolExposure === "tools") return [];
  const usable = new Set(
    effectiveTools(agent, tools)
      .filter(({ offered }) => offered)
      .map(({ tool }) => tool.name),
  );
  if (!usable.has(SHELL)) return [];
  return plugins.filter(
    ({ id, tools: names }) =>
      allowed(agent.skillAllowlist, id) &&
      !denied(agent.skillDenylist, id) &&
      names.some((name) => name !== SHELL && usable.has(name)),
  );
}
