import { effectiveTools } from "../agents/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import { workspaces } from "../store/index.js";
import { requireDirectory } from "../threads/index.js";
import { getThread, workspaceNotFound } from "../tree/index.js";
import type { RunsDeps } from "./deps.js";
import { toolContext } from "./tool-context.js";

/** Tools as they are; with a thread, which of them its agent may use. */
export async function listTools(
  deps: RunsDeps,
  params: ParsedParams<"tool/list">,
): Promise<Result<"tool/list">> {
  const { agent } = await scopeOf(deps, params);
  const data = effectiveTools(agent, deps.tools.list(params.workspace_id)).map(({ tool, offered, reason }) => ({
    name: tool.name,
    ...(tool.title !== undefined && { title: tool.title }),
    description: tool.description,
    parameters: tool.parameters,
    capabilities: [...tool.capabilities],
    safe_to_repeat: tool.safeToRepeat,
    ...(tool.plugin !== undefined && { plugin: tool.plugin }),
    offered,
    ...(reason !== undefined && { reason }),
  }));
  return { data };
}

/** Calls a tool where it would be called in a run: out of scope it is refused here too. */
export async function callTool(
  deps: RunsDeps,
  params: ParsedParams<"tool/call">,
): Promise<Result<"tool/call">> {
  const { agent } = await scopeOf(deps, params);
  const scoped = effectiveTools(agent, deps.tools.list(params.workspace_id)).find(({ tool }) => tool.name === params.name);
  if (scoped && !scoped.offered) {
    return {
      status: "failed",
      output: scoped.reason ?? "This tool is not offered to the agent.",
      duration_ms: 0,
    };
  }
  const { signal } = new AbortController();
  const { workspace_id, thread_id } = params;
  const context =
    thread_id === undefined
      ? {
          workspace_id,
          directory: (await requireDirectory(deps, workspace_id)).root,
          signal,
          clock: deps.clock,
        }
      : await toolContext(deps, { workspace_id, thread_id }, signal);
  const { status, output, duration_ms, truncated } = await deps.tools.call(
    params.name,
    params.arguments ?? {},
    context,
  );
  return { status, output, duration_ms, ...(truncated && { truncated }) };
}

async function scopeOf(
  deps: RunsDeps,
  { workspace_id, thread_id }: { workspace_id: string; thread_id?: string | undefined },
) {
  if (thread_id === undefined) {
    if (await deps.store.read(() => workspaces.findWorkspace(workspace_id))) return { agent: undefined };
    throw workspaceNotFound(workspace_id);
  }
  const { thread } = await getThread(deps, { workspace_id, thread_id });
  // Its runs would be carried out by the one that answers when nobody is chosen, within that one's limits.
  const agents = deps.agents.in(workspace_id);
  return { agent: agents.get(thread.agent_id) ?? agents.require(agents.fallback) };
}
