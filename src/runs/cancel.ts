import type { ParsedParams, Result } from "../protocol/index.js";
import type { Call } from "../tree/index.js";
import type { RunsDeps } from "./deps.js";
import { drive } from "./drive.js";
import { findRun } from "./find.js";
import { getRun } from "./get.js";
import { placeKey } from "./program/place.js";
import { commitEvents } from "./session/commit.js";
import type { SessionKey } from "./session/parts.js";
import type { StopReason, ThreadSession } from "./session/session.js";

/** Ends a run and keeps what it said. A queued one is removed; one that has ended is answered as it is. */
export async function cancelRun(
  deps: RunsDeps,
  params: ParsedParams<"run/cancel">,
  call: Call,
): Promise<Result<"run/cancel">> {
  const row = await findRun(deps, params);
  if (row.last_seq === null) {
    const session = await deps.sessions.open(row);
    if (session.active?.run_id === row.id) await stopActive(deps, session, row.id);
    else await removeQueued(deps, session, row.id, call);
  }
  return getRun(deps, { ...params, tool_call_id: undefined, with_content: undefined });
}

/** Ends everything in a thread: it is about to go. */
export async function cancelAll(deps: RunsDeps, key: SessionKey, call: Call): Promise<void> {
  const session = await deps.sessions.open(key);
  for (const { run_id } of session.position.state.queue) await removeQueued(deps, session, run_id, call);
  const { active } = session;
  if (active) await stopActive(deps, session, active.run_id);
  await deps.providers.release(placeKey(key));
}

/** Resolves when the run has ended: its request is gone at once, what it said is written down first. */
export async function stopActive(
  deps: RunsDeps,
  session: ThreadSession,
  run_id: string,
  how: StopReason = "cancelled",
): Promise<void> {
  session.stop.abort(how);
  drive(deps, session);
  while (session.active?.run_id === run_id && session.driving) {
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

async function removeQueued(
  deps: RunsDeps,
  session: ThreadSession,
  run_id: string,
  { origin }: Call,
): Promise<void> {
  await session.change(async () => {
    const queued = session.position.state.queue.find((run) => run.run_id === run_id);
    if (!queued) return;
    const event = { type: "run.cancelled", at: deps.clock.now(), run_id } as const;
    await commitEvents(deps, session, [event], { origin });
    session.inputs.delete(queued.user_message_id);
  });
  // It may have begun a moment ago.
  if (session.active?.run_id === run_id) await stopActive(deps, session, run_id);
}
