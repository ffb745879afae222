import { stopActive } from "./cancel.js";
import type { RunsDeps } from "./deps.js";
import { isWaiting } from "./fold/state.js";

/** Lets runs end within a time; what has not ended by then is interrupted, and says so. What waits is taken up next time. */
export async function stopRuns(deps: RunsDeps, withinMs: number): Promise<void> {
  deps.sessions.closing = true;
  const busy = deps.sessions.allBusy;
  const ended = Promise.all(busy.map((session) => session.driving));
  await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, withinMs).unref())]);
  await Promise.all(
    // What this gateway never carried on stays for one that does.
    deps.sessions.allBusy
      .filter(({ driven }) => driven)
      .map(async (session) => {
        // Whoever is asked may answer the next gateway.
        if (session.active && !isWaiting(session.active))
          await stopActive(deps, session, session.active.run_id, "interrupted");
        await session.driving;
      }),
  );
}
