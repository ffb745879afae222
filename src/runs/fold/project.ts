import type { RunRow } from "../../store/index.js";
import type { RunEvent, RunRequested } from "./events.js";
import { isEnd, type RunsState } from "./state.js";

export interface Projected {
  readonly before: RunsState;
  readonly after: RunsState;
  readonly seq: number;
  readonly key: { readonly thread_id: string; readonly workspace_id: string };
}

type Rows = ReadonlyMap<string, RunRow>;

/** What lists show of runs, after an event. The journal has all of it; a row is only quicker to find. */
export function project(rows: Rows, event: RunEvent, { before, after, seq, key }: Projected): Rows {
  const next = new Map(rows);
  const at = Math.floor(event.at / 1000);
  if (event.type === "run.requested")
    next.set(event.run_id, admitted(rows.get(event.run_id), event, seq, key));
  const row = next.get(event.run_id);
  if (row && isEnd(event.type)) {
    next.set(row.id, {
      ...row,
      status: event.type.slice("run.".length),
      error: "error" in event && event.error ? JSON.stringify(event.error) : null,
      last_seq: seq,
      ended_at: at,
      updated_at: at,
    });
  }
  const { active } = after;
  const running = active && next.get(active.run_id);
  if (active && running) {
    const begun = before.active?.run_id !== active.run_id;
    const usage = active.usage ? JSON.stringify(active.usage) : null;
    if (begun || running.steps !== active.step || running.usage !== usage) {
      next.set(active.run_id, {
        ...running,
        status: "running",
        steps: active.step,
        usage,
        // A step more is no news: lists are in order of what began and ended.
        ...(begun && { started_at: at, updated_at: at }),
      });
    }
  }
  return next;
}

function admitted(
  before: RunRow | undefined,
  event: RunRequested,
  seq: number,
  { workspace_id, thread_id }: Projected["key"],
): RunRow {
  const at = Math.floor(event.at / 1000);
  return {
    id: event.run_id,
    workspace_id,
    thread_id,
    number: event.number,
    status: "queued",
    steps: 0,
    agent_id: event.agent_id,
    model: event.model,
    parent_run_id: event.parent_run_id ?? null,
    error: null,
    usage: null,
    content: event.content,
    user_message_id: event.user_message_id,
    agent_message_id: event.agent_message_id,
    idempotency_key: event.idempotency_key ?? before?.idempotency_key ?? null,
    first_seq: before?.first_seq ?? seq,
    last_seq: null,
    created_at: before?.created_at ?? at,
    updated_at: at,
    started_at: null,
    ended_at: null,
  };
}
