import type { ParsedParams, Result } from "../../protocol/index.js";
import type { PromptsDeps } from "../deps.js";
import { parsePrompt } from "./messages.js";
import { readBlob } from "./read.js";

export async function getBlob(
  deps: Pick<PromptsDeps, "store">,
  { ref }: ParsedParams<"blob/get">,
): Promise<Result<"blob/get">> {
  const bytes = await deps.store.read(() => readBlob(ref));
  const content_base64 = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64");
  const parsed = parsePrompt(bytes);
  return {
    ref,
    size: bytes.length,
    content_base64,
    ...("messages" in parsed && { messages: parsed.messages }),
  };
}
