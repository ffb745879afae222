import type { JsonChange, Thread as ThreadFile } from "../atsf/index.js";
import { isKind } from "../base/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import { type Call, getThread } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { threadsError } from "./errors.js";
import { reflect } from "./files/reflect.js";
import { assertWritable, withThread } from "./locate.js";
import { ownChanges, ownOf, stampAfter } from "./metadata.js";

/** Brings back what was cleared last, as long as nothing was said since. The agent begins a session of its own with it. */
export async function unclearThread(
  deps: ThreadsDeps,
  params: ParsedParams<"thread/unclear">,
  call: Call,
): Promise<Result<"thread/unclear">> {
  return withThread(deps, params, async (located, file) => {
    assertWritable(located);
    const { id: workspace_id } = located.workspace;
    const { thread_id } = located;
    const before = ownOf(await file.envelope())?.updatedAt;
    const updatedAt = stampAfter(deps.clock.now(), located.row.own_stamp, before);
    await bringBack(file, thread_id, ownChanges({ updatedAt }));
    await reflect(deps, located, call);
    return getThread(deps, { workspace_id, thread_id });
  });
}

async function bringBack(file: ThreadFile, thread_id: string, changes: readonly JsonChange[]): Promise<void> {
  const aside = await file.unclear(changes).catch((error) => {
    if (!isKind(error, "atsf.not_empty")) throw error;
    throw threadsError(
      { kind: "thread.said_since", thread_id },
      "Something was said in this thread since it was cleared, so the messages from before can't take its place. They stay for 30 days in the file messages.jsonl.cleared-… beside its log.",
    );
  });
  if (aside !== undefined) return;
  throw threadsError(
    { kind: "thread.not_cleared", thread_id },
    "There is nothing to bring back: this thread was not cleared within the last 30 days.",
  );
}
