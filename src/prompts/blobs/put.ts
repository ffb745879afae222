import { canonicalJson, unixSeconds } from "../../base/index.js";
import type { ParsedParams, Result } from "../../protocol/index.js";
import type { PromptsDeps } from "../deps.js";
import { promptsError } from "../errors.js";
import { problemOfPrompt } from "./messages.js";
import { writeBlob } from "./write.js";

type PutParams = ParsedParams<"blob/put">;

/** Keeps bytes, or a prompt in canonical JSON: whoever writes the same prompt gets the same ref. */
export async function putBlob(
  deps: Pick<PromptsDeps, "store" | "clock">,
  params: PutParams,
): Promise<Result<"blob/put">> {
  const content = contentOf(params);
  const at = unixSeconds(deps.clock);
  const { ref } = await deps.store.write({ key: "blobs" }, () => writeBlob(content, at));
  return { ref, size: content.length };
}

function contentOf({ text, role = "system", messages, content_base64 }: PutParams): Buffer {
  if (content_base64 !== undefined) return Buffer.from(content_base64, "base64");
  const prompt = messages ?? { role, content: text };
  const problem = problemOfPrompt(prompt);
  if (problem !== undefined)
    throw promptsError({ kind: "prompt.invalid", problem }, `This is no prompt: ${problem}.`);
  return Buffer.from(canonicalJson(prompt));
}
