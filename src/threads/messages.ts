import type { Thread as ThreadFile } from "../atsf/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import { messages, threadFiles } from "../store/index.js";
import { cursorInvalid, DEFAULT_LIMIT, decodeCursor, encodeCursor } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { threadsError } from "./errors.js";
import { tailOf } from "./files/look.js";
import { reflect } from "./files/reflect.js";
import { messageKey } from "./files/words.js";
import { type LocatedThread, locateThread, openFiles } from "./locate.js";
import { messageToWire } from "./wire.js";

/** A page of a thread's messages, from its file: the newest first, or from the beginning. */
export async function listMessages(
  deps: ThreadsDeps,
  params: ParsedParams<"thread/messages">,
): Promise<Result<"thread/messages">> {
  const located = await locateThread(deps, params);
  const thread = await openFiles(deps, located);
  const limit = params.limit ?? DEFAULT_LIMIT;
  if (params.around !== undefined)
    return around(deps, located, thread, { id: params.around, limit, order: params.order });
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

interface Around {
  readonly id: string;
  readonly limit: number;
  readonly order: "asc" | "desc" | undefined;
}

/** A page with a message in its middle: nobody has to walk there page by page. */
async function around(
  deps: ThreadsDeps,
  located: LocatedThread,
  thread: ThreadFile,
  { id, limit, order }: Around,
): Promise<Result<"thread/messages">> {
  const offset = await offsetOf(deps, located, thread, id);
  if (offset === undefined) {
    throw threadsError({ kind: "message.not_found", message_id: id }, `This thread has no message ${id}.`);
  }
  const half = Math.floor(limit / 2);
  const older = half > 0 ? await thread.page(half, offset) : { entries: [], before: offset || undefined };
  const newer = await thread.pageForward(limit - older.entries.length, offset);
  const entries = [...older.entries.toReversed(), ...newer.entries];
  const cursor = async (at: number) => encodeCursor(at, await nameOf(thread, at));
  return {
    data: (order === "asc" ? entries : entries.toReversed()).map(({ message }) => messageToWire(message)),
    ...(older.before !== undefined && { next_cursor: await cursor(older.before) }),
    ...(newer.after !== undefined && { newer_cursor: await cursor(newer.after) }),
  };
}

/** Where a message's line begins. What is not indexed yet is looked through. */
async function offsetOf(
  deps: ThreadsDeps,
  located: LocatedThread,
  thread: ThreadFile,
  id: string,
): Promise<number | undefined> {
  await reflect(deps, located);
  const key = [located.workspace.id, located.thread_id] as const;
  const { found, words_to } = await deps.store.read(function* () {
    const row = yield* threadFiles.findIndexed(...key);
    return { found: yield* messages.findMessage(...key, messageKey(id)), words_to: row?.words_to };
  });
  if (found && (await thread.readAt(found.line_offset))?.id === id) return found.line_offset;
  for await (const entry of thread.newMessages(words_to ?? 0)) {
    if ("message" in entry && entry.message.id === id) return entry.offset;
  }
  return undefined;
}

/** Names the log an offset belongs to, and what stands before it there: in a log that was replaced it means nothing. */
async function nameOf(thread: ThreadFile, offset: number): Promise<string> {
  const state = await thread.logState();
  if (!state || offset < 0 || offset > state.size) return "none";
  return `${state.inode}-${tailOf(thread.dir, offset) ?? "start"}`;
}
