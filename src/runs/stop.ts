import { stopActive } from "./cancel.js";
import type { RunsDeps } from "./deps.js";
import { type ActiveRun, askedElsewhere, asking, isWaiting } from "./fold/state.js";
import type { ThreadSession } from "./session/session.js";

/** Lets runs end within a time; what has not ended by then is interrupted, and says so. What waits is taken up next time. */
export async function stopRuns(deps: RunsDeps, withinMs: number): Promise<void> {
  deps.sessions.closing = true;
  const busy = deps.sessions.allBusy;
  const ended = Promise.all(busy.map((session) => session.driving));
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, withinMs).unref())]);
  // What this gateway never carried on stays for one that does.
  const driven = deps.sessions.allBusy.filter((session) => session.driven);
  await Promise.all(driven.map((session) => stopSession(deps, session)));
}

/** Whoever is asked may answer the next gateway: then only what is at work besides is ended. */
async function stopSession(deps: RunsDeps, session: ThreadSession): Promise<void> {
  const { active } = session;
  if (active && !isWaiting(active)) {
    await stopActive(deps, session, active.run_id, isLeft(active) ? "left" : "interrupted");
  }
  await session.driving;
}

/** A program that asks ends with this gateway: nobody could answer it. What an agent elsewhere may not have got is posted again. */
function isLeft(active: ActiveRun): boolean {
  const asks = asking(active).length > 0 && active.phase === "tools";
  return asks || askedElsewhere(active) !== undefined;
}
