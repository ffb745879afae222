import { type AgentDefinition, approvalFor, effectiveTools, exposedTools } from "../agents/index.js";
import { canonicalJson, sha256 } from "../base/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import { workspaces } from "../store/index.js";
import { requireDirectory } from "../threads/index.js";
import type { ToolContext } from "../tools/index.js";
import { getThread, workspaceNotFound } from "../tree/index.js";
import type { RunsDeps } from "./deps.js";
import type { ToolCalled } from "./fold/events.js";
import { grantedTools } from "./grants.js";
import { whyNone } from "./offered-tools.js";
import { askSomebody } from "./program/ask-somebody.js";
import { commitEvents } from "./session/commit.js";
import type { SessionKey } from "./session/parts.js";
import { toolContext } from "./tool-context.js";

/** Tools as they are; with a thread, which of them its agent may use, and whether somebody is asked first. */
export async function listTools(
  deps: RunsDeps,
  params: ParsedParams<"tool/list">,
  by: CalledBy = "person",
): Promise<Result<"tool/list">> {
  const agent = await agentOf(deps, params, by);
  const servers = await deps.surroundings.servers(params.workspace_id);
  const listed = exposedTools(agent, deps.tools.list(params.workspace_id));
  const none = whyNone(deps, agent);
  const scoped =
    none === undefined ? listed : listed.map(({ tool }) => ({ tool, offered: false, reason: none }));
  const data = scoped.map(({ tool, offered, reason }) => ({
    name: tool.name,
    ...(tool.title !== undefined && { title: tool.title }),
    description: tool.description,
    parameters: tool.parameters,
    capabilities: [...tool.capabilities],
    safe_to_repeat: tool.safeToRepeat,
    approval: approvalFor(agent, tool),
    ...(tool.plugin !== undefined && { plugin: tool.plugin }),
    offered,
    ...(reason !== undefined && { reason }),
  }));
  return { data, ...(servers.length > 0 && { servers: [...servers] }) };
}

/** Who calls a tool outside the steps of a run: a command of a thread's agent, or a person. */
export type CalledBy = "agent" | "person";

interface Caller {
  readonly by: CalledBy;
  /** Fires when nobody is there any more to hear what came of it. */
  readonly gone: AbortSignal;
  /** A program at work, which waits until somebody has allowed what it calls. */
  readonly waits?: boolean | undefined;
}

type CallParams = ParsedParams<"tool/call">;

/** Calls a tool where it would be called in a run: out of scope it is refused here too, and that is recorded. */
export async function callTool(
  deps: RunsDeps,
  params: CallParams,
  caller: Caller,
): Promise<Result<"tool/call">> {
  const { workspace_id, thread_id } = params;
  if (!caller.waits || thread_id === undefined) return callNow(deps, params, caller);
  const session = await deps.sessions.open({ workspace_id, thread_id });
  session.atBridge += 1;
  try {
    return await callNow(deps, params, caller);
  } finally {
    session.atBridge -= 1;
  }
}

async function callNow(
  deps: RunsDeps,
  params: CallParams,
  { by, gone, waits = false }: Caller,
): Promise<Result<"tool/call">> {
  const { workspace_id, thread_id } = params;
  // A command that runs once may be the first to need its server.
  if (params.name.startsWith("mcp_")) await deps.surroundings.servers(workspace_id);
  const agent = await agentOf(deps, params, by);
  if (thread_id === undefined) return carryOut(deps, params, await ofWorkspace(deps, workspace_id, gone));
  const key = { workspace_id, thread_id };
  const context = await toolContext(deps, key, await signalFor(deps, key, { by, gone }));
  const asked = waits ? await askFirst(deps, key, { params, agent, signal: context.signal }) : [];
  const granted = by === "agent" ? [...asked, ...(await grantedTools(deps, key))] : [];
  // Nothing is waited for from here to the call: a tool that comes meanwhile would be called whoever may.
  const refusal = whyRefused(deps, { params, agent, by, granted, waits });
  if (refusal !== undefined) {
    await record(deps, key, { params, by, status: "refused", reason: refusal });
    return { status: "failed", output: `${params.name} was not called: ${refusal}.`, duration_ms: 0 };
  }
  const result = await carryOut(deps, params, context);
  const { status, duration_ms } = result;
  await record(deps, key, { params, by, status, duration_ms });
  return result;
}

interface ToAskFirst {
  readonly params: CallParams;
  readonly agent: AgentDefinition | undefined;
  readonly signal: AbortSignal;
}

/** Has somebody asked about a tool that needs it. Answers the tool when it was allowed, for this call. */
async function askFirst(
  deps: RunsDeps,
  key: SessionKey,
  { params, agent, signal }: ToAskFirst,
): Promise<readonly string[]> {
  const { name, workspace_id, arguments: given = {} } = params;
  const scoped = effectiveTools(agent, deps.tools.list(workspace_id)).find(({ tool }) => tool.name === name);
  if (!scoped?.offered || approvalFor(agent, scoped.tool) !== "ask") return [];
  const session = await deps.sessions.open(key);
  const asked = { call_id: deps.makeId("call_"), name, arguments: canonicalJson(given), own: false };
  const answer = await askSomebody(deps, session, asked, signal);
  return answer === "deny" ? [] : [name];
}

/** What a command of a run does ends with the run: nobody would hear what came of it. */
async function signalFor(deps: RunsDeps, key: SessionKey, { by, gone }: Caller): Promise<AbortSignal> {
  const { active, stop } = await deps.sessions.open(key);
  return by === "agent" && active ? AbortSignal.any([stop.signal, gone]) : gone;
}

async function carryOut(
  deps: RunsDeps,
  { name, arguments: given = {} }: CallParams,
  context: ToolContext,
): Promise<Result<"tool/call">> {
  const { status, output, duration_ms, truncated } = await deps.tools.call(name, given, context);
  return { status, output, duration_ms, ...(truncated && { truncated }) };
}

async function ofWorkspace(deps: RunsDeps, workspace_id: string, signal: AbortSignal): Promise<ToolContext> {
  const { root } = await requireDirectory(deps, workspace_id);
  const { keptOut, clock } = deps;
  return { workspace_id, directory: root, keptOut, signal, clock };
}

interface ToDecide {
  readonly params: CallParams;
  readonly agent: AgentDefinition | undefined;
  readonly by: CalledBy;
  readonly granted: readonly string[];
  readonly waits: boolean;
}

/** A person needs nobody's word for what they do themselves. A command can't wait for one. */
function whyRefused(deps: RunsDeps, { params, agent, by, granted, waits }: ToDecide): string | undefined {
  const { name, workspace_id } = params;
  const scoped = effectiveTools(agent, deps.tools.list(workspace_id)).find(({ tool }) => tool.name === name);
  if (!scoped) return undefined;
  if (!scoped.offered) return scoped.reason ?? "it is not offered to the agent";
  if (by === "person" || approvalFor(agent, scoped.tool) !== "ask") return undefined;
  if (granted.includes(name)) return undefined;
  if (waits) return "the user did not allow it. Go on without it, or ask what to do instead";
  return "somebody has to allow it first, and a command can't wait for that. Call it as a tool, or have it allowed in the agent's toolApprovals";
}

interface Recorded {
  readonly params: CallParams;
  readonly by: CalledBy;
  readonly status: ToolCalled["status"];
  readonly reason?: string;
  readonly duration_ms?: number;
}

async function record(deps: RunsDeps, key: SessionKey, { params, ...facts }: Recorded): Promise<void> {
  const session = await deps.sessions.open(key);
  await session.change(async () => {
    const run_id = session.active?.run_id;
    const event: ToolCalled = {
      type: "tool.called",
      at: deps.clock.now(),
      ...(run_id !== undefined && { run_id }),
      name: params.name,
      arguments_hash: sha256(canonicalJson(params.arguments ?? {})),
      ...facts,
    };
    await commitEvents(deps, session, [event]);
  });
}

async function agentOf(
  deps: RunsDeps,
  { workspace_id, thread_id }: { workspace_id: string; thread_id?: string | undefined },
  by: CalledBy = "person",
): Promise<AgentDefinition | undefined> {
  // What a project names is looked at before it is used: it may not be trusted any more.
  const agents = deps.agents.in(workspace_id);
  if (thread_id === undefined) {
    if (await deps.store.read(() => workspaces.findWorkspace(workspace_id))) return undefined;
    throw workspaceNotFound(workspace_id);
  }
  const { thread } = await getThread(deps, { workspace_id, thread_id });
  // A command can write to the files of its thread: whom those name now does not widen what its own run may do.
  const running = by === "agent" ? await runningAgent(deps, { workspace_id, thread_id }) : undefined;
  if (running !== undefined) return agents.require(running);
  // Its runs would be carried out by the one that answers when nobody is chosen, within that one's limits.
  return agents.get(thread.agent_id) ?? agents.require(agents.fallback);
}

/** Whose run is under way in a thread. */
async function runningAgent(deps: RunsDeps, key: SessionKey): Promise<string | undefined> {
  const { active, position } = await deps.sessions.open(key);
  return active && position.rows.get(active.run_id)?.agent_id;
}
