import type { LiveNote } from "../threads/index.js";
import type { RunsDeps } from "./deps.js";
import type { SessionKey } from "./session/parts.js";

/** What the run under way in a thread has said so far, for someone who begins to follow it now. */
export function liveOf({ sessions }: Pick<RunsDeps, "sessions">, key: SessionKey): LiveNote[] {
  return sessions.busy(key)?.live?.soFar() ?? [];
}
