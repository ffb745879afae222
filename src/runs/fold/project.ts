import type { RunDecision, RunSteering } from "../../protocol/index.js";
import type { RunRow } from "../../store/index.js";
import type { RunEvent, RunRequested } from "./events.js";
import { type ActiveRun, asking, awaitsAnswer, isEnd, type RunsState } from "./state.js";

export interface Projected {
  readonly before: RunsState;
  readonly after: RunsState;
  readonly seq: number;
  readonly key: { readonly thread_id: string; readonly workspace_id: string };
}

type Rows = ReadonlyMap<string, RunRow>;

/** What lists show of runs, after an event. The journal has all of it; a row is only quicker to find. */
export function project(rows: Rows, event: RunEvent, { before, after, seq, key }: Projected): Rows {
  if (event.type === "tool.called") return rows;
  const next = new Map(rows);
  const at = Math.floor(event.at / 1000);
  if (event.type === "run.requested")
    next.set(event.run_id, admitted(rows.get(event.run_id), event, seq, key));
  const row = next.get(event.run_id);
  if (row && isEnd(event.type)) next.set(row.id, ended(row, event, { seq, at }));
  const { active } = after;
  decide(next, event, before);
  const running = active && next.get(active.run_id);
  const begun = before.active?.run_id !== active?.run_id;
  if (active && running) next.set(active.run_id, underWay(running, active, begun ? at : undefined));
  return next;
}

function ended(row: RunRow, event: RunEvent, { seq, at }: { seq: number; at: number }): RunRow {
  return {
    ...row,
    status: event.type.slice("run.".length),
    error: "error" in event && event.error ? JSON.stringify(event.error) : null,
    approvals: null,
    steering: null,
    last_seq: seq,
    ended_at: at,
    updated_at: at,
  };
}

const MOST_DECISIONS = 200;

/** A question that was withdrawn was answered by nobody. */
function decide(next: Map<string, RunRow>, event: RunEvent, { active }: RunsState): void {
  if (event.type !== "effect.receipt" || event.decision === undefined || event.status !== "ok") return;
  const row = next.get(event.run_id);
  const call = active?.intents.find(({ intent_id }) => intent_id === event.intent_id)?.call;
  if (!row || !call) return;
  const before = row.decisions === null ? [] : (JSON.parse(row.decisions) as RunDecision[]);
  const made: RunDecision = {
    tool_call_id: call.call_id,
    decision: event.decision,
    decided_at: Math.floor(event.at / 1000),
  };
  next.set(row.id, { ...row, decisions: JSON.stringify([...before, made].slice(-MOST_DECISIONS)) });
}

/** The very same row when it says nothing else than before. A step more is no news: lists are in order of what began and ended. */
function underWay(row: RunRow, active: ActiveRun, begun: number | undefined): RunRow {
  const usage = active.usage ? JSON.stringify(active.usage) : null;
  const approvals = approvalsOf(active);
  const steering = steeringOf(active);
  const status = approvals !== null || awaitsAnswer(active) ? "waiting" : "running";
  const same =
    row.status === status &&
    row.steps === active.step &&
    row.usage === usage &&
    row.approvals === approvals &&
    row.steering === steering;
  if (begun === undefined && same) return row;
  return {
    ...row,
    status,
    steps: active.step,
    usage,
    approvals,
    steering,
    ...(begun !== undefined && { started_at: begun, updated_at: begun }),
  };
}

/** An answer of a person is wanted for these. */
export interface PendingApproval {
  readonly tool_call_id: string;
  readonly name: string;
  readonly arguments: string;
  readonly truncated?: true;
  readonly arguments_chars?: number;
  readonly asked_at: number;
}

function approvalsOf(active: ActiveRun): string | null {
  const pending = asking(active).map(
    ({ call, asked_at = 0 }): PendingApproval => ({
      tool_call_id: call?.call_id ?? "",
      name: call?.name ?? "",
      arguments: call?.preview ?? "",
      ...(call?.chars !== undefined && { truncated: true as const, arguments_chars: call.chars }),
      asked_at: Math.floor(asked_at / 1000),
    }),
  );
  return pending.length === 0 ? null : JSON.stringify(pending);
}

/** Results of other agents are told with the next step as well, and are nobody's words that somebody could miss. */
function steeringOf({ steered }: ActiveRun): string | null {
  const waiting = steered.flatMap(({ user_message_id: message_id, said }): RunSteering[] =>
    said ? [{ message_id, content: said.content, created_at: Math.floor(said.at / 1000) }] : [],
  );
  return waiting.length === 0 ? null : JSON.stringify(waiting);
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
    parent_run_id: event.parent_run_id ?? before?.parent_run_id ?? null,
    origin: event.origin ? JSON.stringify(event.origin) : (before?.origin ?? null),
    approvals: null,
    decisions: null,
    steering: null,
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
