import type { HeddleError } from "../../base/index.js";
import { tooLarge } from "../rpc/errors.js";
import { decodeMessage } from "../rpc/message.js";

/** How much of a body that is too large is still read, in multiples of the limit: a client that can't finish sending may never look at the answer. */
const READ_ON = 4;

/** Reads a request's body as UTF-8, and keeps no more of it than the limit. */
export async function readBody(
  request: Request,
  limit: number,
): Promise<{ text: string } | { error: HeddleError }> {
  let chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > limit * READ_ON) break;
    if (size <= limit) chunks.push(chunk);
    else chunks = [];
  }
  return size > limit ? { error: tooLarge(limit) } : decodeMessage(Buffer.concat(chunks));
}
