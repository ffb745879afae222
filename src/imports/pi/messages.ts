import { Answer, blocksOf, type Made, NO_TIME, otherBlock, outputOf, tokensOf } from "../blocks.js";
import type { Lossy } from "../session.js";
import {
  isObject,
  type Json,
  jsonText,
  listOf,
  numberOf,
  objectOf,
  textOf,
  timeOf,
  wordOf,
} from "../values.js";

const STOP_REASONS = new Map([
  ["stop", "end_turn"],
  ["length", "max_tokens"],
  ["aborted", "cancelled"],
  ["error", "error"],
]);

/** What an entry says, with the results of what it asked. */
export function piMessage(entry: Json, results: ReadonlyMap<string, Json>, lossy: Lossy): Made {
  const given = objectOf(entry.message);
  const timestamp = timeOf(entry.timestamp) ?? timeOf(given.timestamp) ?? NO_TIME;
  if (given.role === "assistant") return answerOf(given, results, timestamp, lossy);
  if (given.role === "bashExecution")
    return { open: false, message: { role: "user", timestamp, content: shell(given) } };
  const role = given.role === "user" ? "user" : "system";
  const said = entry.summary ?? given.summary ?? entry.content ?? given.content;
  return { open: false, message: { role, timestamp, content: blocksOf(said, lossy) } };
}

function answerOf(given: Json, results: ReadonlyMap<string, Json>, timestamp: string, lossy: Lossy): Made {
  const answer = new Answer(lossy);
  for (const block of listOf(given.content).filter(isObject)) {
    if (block.type === "text") answer.say("text", block.text);
    else if (block.type === "thinking") answer.say("thinking", block.thinking);
    else if (block.type === "toolCall") callOf(answer, block, results, lossy);
    else lossy.addNamed(otherBlock(block.type));
  }
  answer.say("text", given.errorMessage);
  const { input, output, cacheRead, cacheWrite } = objectOf(given.usage);
  const cached = numberOf(cacheRead) ?? 0;
  const message = answer.message(timestamp, {
    stopReason: STOP_REASONS.get(wordOf(given.stopReason)),
    model: textOf(given.model),
    tokens: tokensOf({
      input: numberOf(input),
      output: numberOf(output),
      besides: cached + (numberOf(cacheWrite) ?? 0),
      cached,
    }),
  });
  return { message, open: answer.toolCalls.some(({ toolCallId }) => !results.has(toolCallId)) };
}

function callOf(answer: Answer, block: Json, results: ReadonlyMap<string, Json>, lossy: Lossy): void {
  const toolCallId = textOf(block.id) ?? "call";
  const result = results.get(toolCallId);
  const { output, images } = outputOf(result?.content, lossy);
  const diff = diffOf(objectOf(block.arguments));
  const call = {
    toolCallId,
    name: textOf(block.name) ?? "tool",
    status: result && result.isError !== true ? ("completed" as const) : ("failed" as const),
    input: jsonText(block.arguments, lossy) ?? "{}",
    ...(result && { output }),
    ...(diff && { diff }),
  };
  answer.call(call, images);
}

/** Of one replacement; of several at once there is no one text before and after. */
function diffOf({ path, edits, oldText, newText }: Json) {
  const [only, more] = Array.isArray(edits) ? edits : [{ oldText, newText }];
  const { oldText: before, newText: after } = objectOf(only);
  if (more !== undefined || typeof path !== "string") return undefined;
  if (typeof before !== "string" || typeof after !== "string") return undefined;
  return { path, oldText: before, newText: after };
}

/** A command that the user ran, as they saw it. */
function shell({ command, output, exitCode }: Json) {
  const text = `$ ${wordOf(command ?? "")}\n${wordOf(output ?? "")}`;
  const ended = numberOf(exitCode);
  return [{ type: "text" as const, text: ended ? `${text}\n[exit code ${ended}]` : text }];
}
