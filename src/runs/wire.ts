import type { Run } from "../protocol/index.js";
import type { RunRow } from "../store/index.js";

/** A run as clients see it. A column without a value is left out. */
export function runToWire(row: RunRow): Run {
  const { id, number, thread_id, workspace_id, status, steps, agent_id, created_at } = row;
  const { user_message_id, agent_message_id } = row;
  return {
    id,
    number,
    thread_id,
    workspace_id,
    status: status as Run["status"],
    steps,
    agent_id,
    user_message_id,
    agent_message_id,
    created_at,
    ...(row.model !== null && { model: row.model }),
    ...(row.parent_run_id !== null && { parent_run_id: row.parent_run_id }),
    ...(row.error !== null && { error: JSON.parse(row.error) }),
    ...(row.usage !== null && { usage: JSON.parse(row.usage) }),
    ...(row.status === "queued" && row.content !== null && { content: row.content }),
    ...(row.started_at !== null && { started_at: row.started_at }),
    ...(row.ended_at !== null && { ended_at: row.ended_at }),
  };
}
