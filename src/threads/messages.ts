import type { ParsedParams, Result } from "../protocol/index.js";
import { cursorInvalid, DEFAULT_LIMIT, decodeCursor, encodeCursor } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { locateThread } from "./locate.js";
import { messageToWire } from "./wire.js";

/** A page of a thread's messages, from its file: the newest first, or from the beginning. */
export async function listMessages(
  deps: ThreadsDeps,
  params: ParsedParams<"thread/messages">,
): Promise<Result<"thread/messages">> {
  const { workspace, root, thread_id } = await locateThread(deps, params);
  await deps.files.ensureDirectory(workspace);
  const thread = await deps.files.thread(root, thread_id);
  const limit = params.limit ?? DEFAULT_LIMIT;
  const after = params.cursor === undefined ? undefined : decodeCursor(params.cursor, ["number", "string"]);
  const page =
    params.order === "asc"
      ? await thread.pageForward(limit, after?.[0])
      : await thread.page(limit, after?.[0]);
  // Offsets in a log that was replaced since mean nothing any more.
  if (after && page.log !== after[1]) throw cursorInvalid();
  const next = "after" in page ? page.after : page.before;
  return {
    data: page.entries.map(({ message }) => messageToWire(message)),
    ...(next !== undefined && { next_cursor: encodeCursor(next, page.log ?? "none") }),
  };
}
