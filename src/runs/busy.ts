import { Turns } from "../base/index.js";
import { workspaces } from "../store/index.js";
import type { Call } from "../tree/index.js";
import { cancelAll } from "./cancel.js";
import { giveBackLeft } from "./delegate/give-back.js";
import type { RunsDeps } from "./deps.js";
import { runsError } from "./errors.js";
import { placeKey } from "./program/place.js";
import type { SessionKey } from "./session/parts.js";

/** Does what would pull a thread's log or directory from under its agent, while nothing is under way and nothing can begin. */
export async function whileIdle<T>(
  deps: RunsDeps,
  { workspace_id, thread_id }: SessionKey,
  work: () => Promise<T>,
): Promise<T> {
  const session = await deps.sessions.open({ workspace_id, thread_id });
  return session.change(async () => {
    if (!session.active) {
      // What a program keeps open there would go on in what is gone.
      await deps.providers.release(placeKey(session.key));
      return work();
    }
    throw runsError(
      { kind: "thread.busy", thread_id },
      "The agent of this thread is at work. Wait until its run has ended, or cancel it first.",
    );
  });
}

/** Who deletes a workspace that somebody else is deleting waits: the first would let runs begin while the second cancels. */
const removing = new Turns();

/**
 * Ends everything that is under way in a workspace, and removes it. Nothing begins there from then on: it would be ended at
 * once, or asked for in a workspace that is gone. What could not begin does where it stays.
 */
export async function removeWorkspace<T>(
  deps: RunsDeps,
  workspace_id: string,
  call: Call,
  remove: () => Promise<T>,
): Promise<T> {
  return removing.run(workspace_id, () =>
    whileLeaving(deps, workspace_id, call, remove).catch(async (error) => {
      await giveBackLeft(deps, workspace_id).catch((failure) => deps.report(failure, UNRETURNED));
      throw error;
    }),
  );
}

async function whileLeaving<T>(
  deps: RunsDeps,
  workspace_id: string,
  call: Call,
  remove: () => Promise<T>,
): Promise<T> {
  deps.leaving.add(workspace_id);
  try {
    await admitted(deps, workspace_id);
    await cancelWorkspace(deps, workspace_id, call);
    return await remove();
  } finally {
    deps.leaving.delete(workspace_id);
  }
}

const UNRETURNED = "results may come back only after the next start";

/** Those that were being admitted are known when a commit behind theirs is through, and their callers had their turn. */
async function admitted(deps: RunsDeps, workspace_id: string): Promise<void> {
  await deps.store.write({ key: workspace_id }, () => workspaces.lockWorkspace(workspace_id));
  await new Promise((resolve) => setImmediate(resolve));
}

async function cancelWorkspace(deps: RunsDeps, workspace_id: string, call: Call): Promise<void> {
  const busy = deps.sessions.allBusy.filter(({ key }) => key.workspace_id === workspace_id);
  await Promise.all(busy.map(({ key }) => cancelAll(deps, key, call)));
  await deps.providers.release(workspace_id);
}
