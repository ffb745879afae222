import {
  Answer,
  blocksOf,
  identified,
  type Made,
  NO_TIME,
  otherBlock,
  outputOf,
  tokensOf,
} from "../blocks.js";
import { messageIdOf } from "../ids.js";
import type { LineFile } from "../line-file.js";
import type { TreeNode } from "../message-tree.js";
import type { Lossy, SourceMessage } from "../session.js";
import { isObject, type Json, jsonText, listOf, numberOf, objectOf, textOf, timeOf } from "../values.js";
import type { Kept } from "./kept.js";
import { NO_RESULT, ResultLines, type Results } from "./results.js";

/** The messages of one way through a session. */
export async function* messagesOf(
  nodes: readonly TreeNode<Kept>[],
  file: LineFile,
  { id, lossy }: { id: string; lossy: Lossy },
): AsyncGenerator<SourceMessage> {
  const resultLines = new ResultLines(file);
  for (const { id: entry, data } of nodes) {
    const counted = lossy.of(entry);
    const lines: Json[] = [];
    for (const ref of data.lines) lines.push(await file.read(ref));
    const results = await resultLines.of(data);
    const made = data.answer === undefined ? userMessage(lines, counted) : answerOf(lines, results, counted);
    const message = identified(messageIdOf("claude", id, entry), made);
    if (message) yield message;
  }
}

function userMessage([line = {}]: readonly Json[], lossy: Lossy): Made {
  const { content } = objectOf(line.message);
  const role = line.isCompactSummary === true ? "system" : "user";
  const timestamp = timeOf(line.timestamp) ?? NO_TIME;
  return { open: false, message: { role, timestamp, content: blocksOf(content, lossy) } };
}

function answerOf(lines: readonly Json[], results: Results, lossy: Lossy): Made {
  const answer = new Answer(lossy);
  for (const block of lines.flatMap((line) => listOf(objectOf(line.message).content)).filter(isObject))
    take(answer, block, results, lossy);
  const last = objectOf(lines.at(-1)?.message);
  const failed = lines.some((line) => line.isApiErrorMessage === true);
  const { input_tokens, output_tokens, ...usage } = objectOf(last.usage);
  const cached = numberOf(usage.cache_read_input_tokens) ?? 0;
  const message = answer.message(timeOf(lines[0]?.timestamp) ?? NO_TIME, {
    stopReason: failed ? "error" : stopOf(last.stop_reason),
    model: last.model === "<synthetic>" ? undefined : textOf(last.model),
    tokens: tokensOf({
      input: numberOf(input_tokens),
      output: numberOf(output_tokens),
      besides: cached + (numberOf(usage.cache_creation_input_tokens) ?? 0),
      cached,
    }),
  });
  const unanswered = answer.toolCalls.some(({ toolCallId }) => !results.has(toolCallId));
  return { message, open: unanswered || (last.stop_reason === null && answer.toolCalls.length === 0) };
}

function take(answer: Answer, block: Json, results: Results, lossy: Lossy): void {
  if (block.type === "text") answer.say("text", block.text);
  else if (block.type === "thinking" && textOf(block.thinking)) answer.say("thinking", block.thinking);
  else if (block.type === "tool_use") callOf(answer, block, results, lossy);
  else if (block.type === "thinking" || block.type === "redacted_thinking")
    lossy.add("thoughts that the provider keeps to itself");
  else lossy.addNamed(otherBlock(block.type));
}

/** An answer that goes on with the results of its tools has not stopped. */
function stopOf(reason: unknown): string | undefined {
  return reason === "tool_use" ? undefined : textOf(reason);
}

function callOf(answer: Answer, block: Json, results: Results, lossy: Lossy): void {
  const toolCallId = textOf(block.id) ?? "call";
  const { result, detail } = results.get(toolCallId) ?? NO_RESULT;
  const { output, images } = outputOf(result?.content, lossy);
  const diff = diffOf(detail);
  const duration = numberOf(detail.durationMs);
  const call = {
    toolCallId,
    name: textOf(block.name) ?? "tool",
    status: result && result.is_error !== true ? ("completed" as const) : ("failed" as const),
    input: jsonText(block.input, lossy) ?? "{}",
    ...(result && { output }),
    ...(duration !== undefined && { duration }),
    ...(diff && { diff }),
  };
  answer.call(call, images);
}

/** Of an edit its two texts, of a file that was written the whole of it. */
function diffOf({ filePath, oldString, newString, originalFile, content }: Json) {
  if (typeof filePath !== "string") return undefined;
  if (typeof oldString === "string" && typeof newString === "string")
    return { path: filePath, oldText: oldString, newText: newString };
  if (typeof content !== "string" || (originalFile !== null && typeof originalFile !== "string"))
    return undefined;
  return { path: filePath, oldText: originalFile ?? "", newText: content };
}
