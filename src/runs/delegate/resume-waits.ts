import { type DelegationRow, delegations, runs } from "../../store/index.js";
import { cancelRun } from "../cancel.js";
import type { RunsDeps } from "../deps.js";
import { letComeBack } from "./give-back.js";

/** How the id of a delegation begins that a step of a run has made: it is made again under the same id. */
export const CALLED_BY_A_STEP = "int_";

/**
 * What calls of a gateway that is gone waited for. Before anything is carried on: a call that is made again waits as before,
 * what was asked for by a run that was cancelled is cancelled, and the rest, for which nobody waits any more, comes back by
 * itself.
 */
export async function resumeWaits(deps: RunsDeps): Promise<void> {
  const left = await deps.store.read(() => delegations.waitedFor());
  for (const delegation of left) {
    // One that can't be looked after must not keep the others, or any run, from going on.
    await resumeWait(deps, delegation).catch((error) => deps.report(error, UNHEARD));
  }
}

const UNHEARD = "nobody may hear what came of a delegated run";

async function resumeWait(deps: RunsDeps, delegation: DelegationRow): Promise<void> {
  const status = await statusOfCaller(deps, delegation);
  if (isMadeAgain(deps, delegation, status)) resume(deps, delegation);
  else if (status === "cancelled") await cancel(deps, delegation);
  else await letComeBack(deps, delegation);
}

/** The one above it may have been cancelled just now. One that had ended but for a commit ends here, before anything goes on. */
async function statusOfCaller(deps: RunsDeps, delegation: DelegationRow): Promise<string | undefined> {
  const { workspace_id, caller_thread_id: thread_id, caller_run_id } = delegation;
  if (caller_run_id === null) return undefined;
  // One that can't be opened is ended by whoever carries it on.
  await deps.sessions.open({ workspace_id, thread_id }).catch(() => undefined);
  return (await deps.store.read(() => runs.findRun(caller_run_id)))?.status;
}

/** Only steps of runs make their calls again: a person's call, or a command's, went with its gateway. */
function isMadeAgain(deps: RunsDeps, { id, workspace_id }: DelegationRow, status?: string): boolean {
  const underWay = status === "running" || status === "waiting";
  const known = deps.tools.get("agents_message", workspace_id) !== undefined;
  return underWay && known && id.startsWith(CALLED_BY_A_STEP);
}

/** A run that can't be taken up makes no call again. */
function resume(deps: RunsDeps, delegation: DelegationRow): void {
  deps.waits.resume(delegation);
  const forget = deps.ends.on(({ id, status }) => {
    if (id !== delegation.caller_run_id) return;
    forget();
    const over = deps.waits.resumed(delegation.id);
    if (!over) return;
    over();
    const ending = status === "cancelled" ? cancel(deps, delegation) : letComeBack(deps, delegation);
    ending.catch((error) => deps.report(error, UNHEARD));
  });
}

async function cancel(deps: RunsDeps, { run_id, workspace_id }: DelegationRow): Promise<void> {
  await cancelRun(deps, { run_id, workspace_id }, {});
}
