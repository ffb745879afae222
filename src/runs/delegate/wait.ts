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
  } catch (error) {
    // The call ends here, and what it asked for goes on. Whoever was stopped has seen to that.
    if (!signal.aborted) void letComeBack(deps, delegation);
    throw error;
  } finally {
    stop();
    signal.removeEventListener("abort", cancel);
  }
}

/**
 * Nobody waits any more, unless it has ended this very moment: then the call has its result, also one that is made again
 * because the gateway was killed before that was recorded. A store that takes no change keeps nobody waiting: it is asked
 * again before anything that follows from the timeout.
 */
async function leave(deps: RunsDeps, delegation: DelegationRow): Promise<RunRow | undefined> {
  const { id, run_id, workspace_id } = delegation;
  const leaving = deps.store.write({ key: workspace_id }, function* () {
    yield* workspaces.lockWorkspace(workspace_id);
    const row = yield* runs.findRun(run_id);
    if (row && row.last_seq !== null) return row;
    yield* delegations.leaveDelegation(id);
    return undefined;
  });
  return leaving.catch((error) => {
    deps.report(error, "that a call's time was up could not be written; it is tried again");
    void letComeBack(deps, delegation);
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
  if (reason !== "cancelled") return void letComeBack(deps, delegation);
  cancelRun(deps, { run_id, workspace_id: undefined }, {}).catch((error) =>
    deps.report(error, "what a run waited for could not be cancelled"),
  );
}
