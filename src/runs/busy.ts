import type { Call } from "../tree/index.js";
import { cancelAll } from "./cancel.js";
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

/** Ends everything that is under way in a workspace: it is about to go. */
export async function cancelWorkspace(deps: RunsDeps, workspace_id: string, call: Call): Promise<void> {
  const busy = deps.sessions.allBusy.filter(({ key }) => key.workspace_id === workspace_id);
  await Promise.all(busy.map(({ key }) => cancelAll(deps, key, call)));
  await deps.providers.release(workspace_id);
}
