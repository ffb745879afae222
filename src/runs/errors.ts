import { failures } from "../base/index.js";

export type RunsFailure =
  | { kind: "run.not_found"; run_id: string }
  | { kind: "run.not_queued"; run_id: string; status: string }
  | { kind: "run.not_running"; run_id: string; status: string }
  | { kind: "run.not_asking"; run_id: string; tool_call_id: string; status: string }
  | { kind: "run.no_step"; run_id: string; step: number; steps: number }
  | { kind: "run.input_too_large"; limit: number }
  | { kind: "run.rejected"; reason: string }
  | { kind: "run.too_many_steps"; limit: number }
  | { kind: "run.too_many_delegations"; limit: number }
  | { kind: "run.queue_full"; limit: number }
  | { kind: "run.stopping" }
  | { kind: "thread.read_only"; thread_id: string; reason: string }
  | { kind: "thread.other_agent"; thread_id: string; agent_id: string }
  | { kind: "thread.none_of_agent"; agent_id: string }
  | { kind: "thread.busy"; thread_id: string }
  | { kind: "message.not_found"; message_id: string };

export const runsError = failures<RunsFailure>();

export function runNotFound(run_id: string) {
  return runsError({ kind: "run.not_found", run_id }, `There is no run ${run_id}.`);
}

export function stopping() {
  return runsError({ kind: "run.stopping" }, "The gateway is stopping. Try again in a moment.");
}
