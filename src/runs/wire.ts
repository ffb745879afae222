import type { Run, RunApproval, RunOrigin } from "../protocol/index.js";
import { type RunRow, runs, type Unit } from "../store/index.js";
import type { Origin } from "./fold/events.js";
import type { PendingApproval } from "./fold/project.js";

/** A run as clients see it, without what runs it delegated to wait for. A column without a value is left out. */
export function runToWire(row: RunRow, delegated: readonly RunRow[] = []): Run {
  const { id, number, thread_id, workspace_id, status, steps, agent_id, created_at } = row;
  const { user_message_id, agent_message_id } = row;
  const approvals = [row, ...delegated].flatMap(approvalsOf);
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
    ...(row.origin !== null && { origin: originOf(row.origin) }),
    ...(approvals.length > 0 && { approvals }),
    ...(row.decisions !== null && { decisions: JSON.parse(row.decisions) }),
    ...(row.steering !== null && { steering: JSON.parse(row.steering) }),
    ...(row.error !== null && { error: JSON.parse(row.error) }),
    ...(row.usage !== null && { usage: JSON.parse(row.usage) }),
    ...(row.status === "queued" && row.content !== null && { content: row.content }),
    ...(row.started_at !== null && { started_at: row.started_at }),
    ...(row.ended_at !== null && { ended_at: row.ended_at }),
  };
}

/** Runs as clients see them, with what those that they delegated to wait for. */
export function* runsToWire(rows: readonly RunRow[]): Unit<Run[]> {
  const waiting = yield* runs.waitingBelow(rows.map(({ id }) => id));
  return rows.map((row) =>
    runToWire(
      row,
      waiting.filter(({ ancestor }) => ancestor === row.id),
    ),
  );
}

/** Asked for by another run, which is told what it waits for. */
export function isDelegated({ origin, parent_run_id }: Pick<RunRow, "origin" | "parent_run_id">): boolean {
  return parent_run_id !== null && origin !== null && (JSON.parse(origin) as Origin).kind === "delegated";
}

function approvalsOf({ id: run_id, thread_id, agent_id, approvals }: RunRow): RunApproval[] {
  if (approvals === null) return [];
  const pending = JSON.parse(approvals) as PendingApproval[];
  return pending.map((one) => ({ run_id, thread_id, agent_id, ...one }));
}

function originOf(text: string): RunOrigin {
  const { agents: _, ...origin } = JSON.parse(text) as Origin;
  return origin;
}
