import type { AgentDefinition, AgentSet } from "../../agents/index.js";
import type { Thread } from "../../protocol/index.js";
import type { ToolContext } from "../../tools/index.js";
import { getThread } from "../../tree/index.js";
import type { RunsDeps } from "../deps.js";
import type { SessionKey } from "../session/parts.js";
import { type Lineage, lineageOf } from "./lineage.js";

/** Who hands work to somebody. */
export interface Caller {
  readonly key: SessionKey;
  readonly thread: Thread;
  readonly agent: AgentDefinition;
  /** The agents of its workspace. */
  readonly set: AgentSet;
  readonly run_id?: string;
  readonly lineage: Lineage;
}

/** Undefined for a call that no thread makes: there would be nobody for a result to come back to. */
export async function callerOf(deps: RunsDeps, context: ToolContext): Promise<Caller | undefined> {
  const { workspace_id, thread_id } = context;
  if (thread_id === undefined) return undefined;
  const key = { workspace_id, thread_id };
  const { thread } = await getThread(deps, key);
  const set = deps.agents.in(workspace_id);
  const { active, position } = await deps.sessions.open(key);
  const run_id = context.run_id ?? active?.run_id;
  const own = active?.run_id === run_id ? active : undefined;
  return {
    key,
    thread,
    set,
    agent: agentOf(set, thread, active && position.rows.get(active.run_id)?.agent_id),
    ...(run_id !== undefined && { run_id }),
    lineage: lineageOf(own),
  };
}

/** Whose run is under way: whom its thread names now, or who answers where nobody is named, does not widen what that one may do. */
function agentOf(set: AgentSet, { agent_id }: Thread, running: string | undefined): AgentDefinition {
  if (running !== undefined) return set.require(running);
  return set.get(agent_id) ?? set.require(set.fallback);
}
