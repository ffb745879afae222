import { sha256 } from "../../base/index.js";
import type { PromptMessage } from "../../providers/index.js";
import { blobs, type Unit } from "../../store/index.js";
import { promptsError } from "../errors.js";
import { parsePrompt } from "./messages.js";

/** The bytes that a ref names, and no others: what no longer has the hash is not given out. */
export function* readBlob(ref: string): Unit<Uint8Array> {
  const hash = ref.slice("sha256:".length);
  const found = yield* blobs.findBlob(hash);
  if (!found) {
    throw promptsError(
      { kind: "blob.not_found", ref },
      `There is no blob ${ref}. One that nothing refers to is kept for a day: put it again.`,
    );
  }
  return verified(hash, found.content);
}

/** Bytes that were found under a hash, if they still have it. */
export function verified(hash: string, content: Uint8Array): Uint8Array {
  if (sha256(content) === hash) return content;
  const ref = `sha256:${hash}`;
  throw promptsError(
    { kind: "blob.corrupt", ref },
    `The bytes of the blob ${ref} are damaged. Put the same content again to mend it.`,
  );
}

/** The messages a blob holds. One that holds anything else can't be a prompt. */
export function* readPrompt(ref: string): Unit<PromptMessage[]> {
  const parsed = parsePrompt(yield* readBlob(ref));
  if ("messages" in parsed) return parsed.messages;
  throw promptsError(
    { kind: "prompt.invalid", ref, problem: parsed.problem },
    `The blob ${ref} is no prompt: ${parsed.problem}.`,
  );
}
