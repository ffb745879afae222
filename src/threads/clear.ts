import type { ParsedParams, Result } from "../protocol/index.js";
import { type Call, getThread } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { reflect } from "./files/reflect.js";
import { assertWritable, withThread } from "./locate.js";
import { ownChanges, ownOf, stampAfter } from "./metadata.js";

/** Empties a thread's log and forgets the agent's own session. Id, title, agent and place stay. */
export async function clearThread(
  deps: ThreadsDeps,
  params: ParsedParams<"thread/clear">,
  call: Call,
): Promise<Result<"thread/clear">> {
  return withThread(deps, params, async (located, file) => {
    assertWritable(located);
    const { id: workspace_id } = located.workspace;
    const before = ownOf(await file.envelope())?.updatedAt;
    const updatedAt = stampAfter(deps.clock.now(), located.row.own_stamp, before);
    await file.clear(ownChanges({ updatedAt, agentSession: undefined }));
    await reflect(deps, located, call);
    return getThread(deps, { workspace_id, thread_id: located.thread_id });
  });
}
