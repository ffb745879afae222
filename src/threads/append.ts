import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Message, Thread as ThreadFile } from "../atsf/index.js";
import { sha256 } from "../base/index.js";
import type { ParsedParams, Result } from "../protocol/index.js";
import { messages, threadFiles } from "../store/index.js";
import type { Call } from "../tree/index.js";
import type { ThreadsDeps } from "./deps.js";
import { threadsError } from "./errors.js";
import { type FilesOf, reflect } from "./files/reflect.js";
import { messageKey } from "./files/words.js";
import { assertWritable, withThread } from "./locate.js";
import { messageToWire } from "./wire.js";

/** Records a message that was made elsewhere. It is on disk before anyone is told of it. */
export async function appendMessage(
  deps: ThreadsDeps,
  params: ParsedParams<"message/append">,
  call: Call,
): Promise<Result<"message/append">> {
  return withThread(deps, params, async (located, file) => {
    assertWritable(located);
    const given = complete(deps, params.message);
    const there =
      params.message.id === undefined ? undefined : await findMessage(deps, located, file, given.id);
    if (there) return { message: messageToWire(assertSame(there, params.message)) };
    const message = await file.append(given);
    // Looking for the message may have brought the index forward: what was known of the thread is old then.
    await reflect(deps, params.message.id === undefined ? located : { ...located, row: undefined }, call);
    return { message: messageToWire(message) };
  });
}

/** An inline image as it stands in the log, if it is the one that stands there at its place. */
function imageMovedOut({ content }: Message) {
  return (block: Message["content"][number], at: number): unknown => {
    const assetRef = content[at]?.assetRef;
    if (block.type !== "image" || typeof block.data !== "string" || typeof assetRef !== "string")
      return block;
    const { data, ...rest } = block;
    const named = assetRef.startsWith(`sha256-${sha256(Buffer.from(data, "base64")).slice(0, 16)}`);
    return named ? { ...rest, assetRef } : block;
  };
}

type NewMessage = ParsedParams<"message/append">["message"];

function complete(deps: ThreadsDeps, { id, role, timestamp, content, ...rest }: NewMessage): Message {
  return {
    id: id ?? randomUUID(),
    role,
    timestamp: new Date(timestamp ?? deps.clock.now()).toISOString(),
    content: typeof content === "string" ? [{ type: "text", text: content }] : content,
    ...rest,
  } as Message;
}

/** A client that did not get its answer sends the message again, with the id it gave it. */
export async function findMessage(
  deps: ThreadsDeps,
  located: FilesOf,
  file: ThreadFile,
  message_id: string,
): Promise<Message | undefined> {
  await reflect(deps, located);
  const key = [located.workspace.id, located.thread_id] as const;
  const { found, words_to } = await deps.store.read(function* () {
    const row = yield* threadFiles.findIndexed(...key);
    return { found: yield* messages.findMessage(...key, messageKey(message_id)), words_to: row?.words_to };
  });
  if (found) return file.readAt(found.line_offset);
  // What is not indexed yet is looked through: making it searchable takes far longer.
  for await (const entry of file.newMessages(words_to ?? 0)) {
    if ("message" in entry && entry.message.id === message_id) return entry.message;
  }
  return undefined;
}

function assertSame(there: Message, { content, timestamp, ...given }: NewMessage): Message {
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
  const sameTime = timestamp === undefined || Date.parse(timestamp) === Date.parse(there.timestamp);
  const sameRest = Object.entries(given).every(([key, value]) => isDeepStrictEqual(there[key], value));
  if (sameTime && sameRest && isDeepStrictEqual(there.content, blocks.map(imageMovedOut(there))))
    return there;
  throw threadsError(
    { kind: "message.exists", message_id: there.id },
    `This thread has another message with the id ${there.id}. Give the new one an id of its own.`,
  );
}
