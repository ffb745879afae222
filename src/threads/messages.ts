import type { Thread as ThreadFile } from "../atsf/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import { cursorInvalid, DEFAULT_LIMIT, decodeCursor, encodeCursor } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { tailOf } from "./files/look.js";
import { locateThread, openFiles } from "./locate.js";
import { messageToWire } from "./wire.js";

/** A page of a thread's messages, from its file: the newest first, or from the beginning. */
export async function listMessages(
  deps: ThreadsDeps,
  params: ParsedParams<"thread/messages">,
): Promise<Result<"thread/messages">> {
  const thread = await openFiles(deps, await locateThread(deps, params));
  const limit = params.limit ?? DEFAULT_LIMIT;
  const after = params.cursor === undefined ? undefined : decodeCursor(params.cursor, ["number", "string"]);
  if (after && after[1] !== (await nameOf(thread, after[0]))) throw cursorInvalid();
  const page =
    params.order === "asc"
      ? await thread.pageForward(limit, after?.[0])
      : await thread.page(limit, after?.[0]);
  const next = "after" in page ? page.after : page.before;
  return {
    data: page.entries.map(({ message }) => messageToWire(message)),
    ...(next !== undefined && { next_cursor: encodeCursor(next, await nameOf(thread, next)) }),
  };
}

/** Names the log an offset belongs to, and what stands before it there: in a log that was replaced it means nothing. */
async function nameOf(thread: ThreadFile, offset: number): Promise<string> {
  const state = await thread.logState();
  if (!state || offset < 0 || offset > state.size) return "none";
  return `${state.inode}-${tailOf(thread.dir, offset) ?? "start"}`;
}
