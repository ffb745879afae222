import { locateThread } from "../threads/index.js";
import type { ToolContext } from "../tools/index.js";
import type { RunsDeps } from "./deps.js";
import type { SessionKey } from "./session/parts.js";

/** What a tool is told of the thread that calls it: its worktree is its directory, else the workspace's is. */
export async function toolContext(
  deps: RunsDeps,
  key: SessionKey,
  signal: AbortSignal,
): Promise<ToolContext> {
  const { workspace_id, thread_id } = key;
  const located = await locateThread(deps, key);
  const { row, root } = located;
  return {
    workspace_id,
    thread_id,
    agent_id: row.agent_id,
    directory: root,
    keptOut: deps.keptOut,
    signal,
    clock: deps.clock,
  };
}
