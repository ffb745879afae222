import { type DelegationRow, delegations, type RunRow, runs, workspaces } from "../../store/index.js";
import { cancelRun } from "../cancel.js";
import type { RunsDeps } from "../deps.js";
import { letComeBack } from "./give-back.js";

export interface Waiting {
  readonly signal: AbortSignal;
  /** Unix milliseconds. */
  readonly until: number;
}

/** The run, once it has ended; undefined when the time was up first: from then on its result comes back by itself. */
export async function waitForRun(
  deps: RunsDeps,
  delegation: DelegationRow,
  { signal, until }: Waiting,
): Promise<RunRow | undefined> {
  const { run_id } = delegation;
  let stop = () => {};
  const cancel = () => stopWaiting(deps, delegation, signal);
  signal.addEventListener("abort", cancel, { once: true });
  // It may have been cancelled while it was still asking.
  if (signal.aborted) cancel();
  try {
    const ended = new Promise<RunRow | undefined>((resolve) => {
      const unlisten = deps.ends.on((row) => row.id === run_id && resolve(row));
      const timer = setTimeout(() => resolve(undefined), Math.max(0, until - deps.clock.now()));
      stop = () => {
        unlisten();
        clearTimeout(timer);
      };
    });
    // After that: whatever ends from now on is heard of.
    const row = await deps.store.read(() => runs.findRun(run_id));
    if (row && row.last_seq !== null) return row;
    return (await ended) ?? (await leave(deps, delegation));
  } finally {
    stop();
    signal.removeEventListener("abort", cancel);
  }
}

/**
 * Nobody waits any more, unless it has ended this very moment: then the call has its result, also one that is made again
 * because the gateway was killed before that was recorded.
 */
async function leave(
  deps: RunsDeps,
  { id, run_id, workspace_id }: DelegationRow,
): Promise<RunRow | undefined> {
  return deps.store.write({ key: workspace_id }, function* () {
    yield* workspaces.lockWorkspace(workspace_id);
    const row = yield* runs.findRun(run_id);
    if (row && row.last_seq !== null) return row;
    yield* delegations.leaveDelegation(id);
    return undefined;
  });
}

/**
 * Whoever is cancelled takes along what it waits for. A gateway that stops interrupts both by itself. A command that ended, or
 * a person who left, is not there to hear the answer any more: it comes back to the thread.
 */
function stopWaiting(deps: RunsDeps, delegation: DelegationRow, { reason }: AbortSignal): void {
  if (reason === "interrupted" || reason === "left") return;
  const { run_id } = delegation;
  const stopping =
    reason === "cancelled"
      ? cancelRun(deps, { run_id, workspace_id: undefined }, {})
      : letComeBack(deps, delegation);
  stopping.catch((error) => deps.report(error, "what a run waited for could neither be cancelled nor left"));
}
