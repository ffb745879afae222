import { createHash, timingSafeEqual } from "node:crypto";
import { threadFiles, workspaces } from "../../store/index.js";
import type { RunsDeps } from "../deps.js";
import type { SessionKey } from "../session/parts.js";

/**
 * Whether a secret lets answers in to a thread. A thread that is unknown, deleted or was never posted for has none, and
 * nothing tells that apart from a wrong one.
 */
export async function isCallbackSecret(deps: RunsDeps, key: SessionKey, given: string): Promise<boolean> {
  const known = await deps.store.read(function* () {
    const workspace = yield* workspaces.findWorkspace(key.workspace_id);
    const row = workspace && (yield* threadFiles.findIndexed(key.workspace_id, key.thread_id));
    return row?.deleted_at === null ? row.callback_secret : null;
  });
  // Compared also where there is none: the time it takes says nothing.
  const same = timingSafeEqual(digest(given), digest(known ?? ""));
  return known !== null && same;
}

/** Hashing makes the lengths equal. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
