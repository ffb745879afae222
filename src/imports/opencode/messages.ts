import { Answer, type Block, type Made, NO_TIME, tokensOf } from "../blocks.js";
import { imageAt } from "../image.js";
import type { Lossy } from "../session.js";
import {
  isObject,
  type Json,
  jsonText,
  kindOf,
  listOf,
  numberOf,
  objectOf,
  textOf,
  timeOf,
  wordOf,
} from "../values.js";
import type { KeptMessage } from "./parts.js";

const STOP_REASONS = new Map([
  ["stop", "end_turn"],
  ["length", "max_tokens"],
]);

/** What a message of opencode says. */
export function opencodeMessage({ info, parts, unread }: KeptMessage, lossy: Lossy): Made {
  if (unread > 0) lossy.add("messages and parts that can't be read", unread);
  const timestamp = timeOf(objectOf(info.time).created) ?? timeOf(info.timestamp) ?? NO_TIME;
  if (info.role === "assistant") return answerOf(info, parts, timestamp, lossy);
  const content = parts.flatMap((part) => saidIn(part, lossy));
  return { open: false, message: { role: info.role === "user" ? "user" : "system", timestamp, content } };
}

function saidIn(part: Json, lossy: Lossy): Block[] {
  if (part.type === "text" && (part.synthetic === true || part.ignored === true)) {
    lossy.add("context that opencode adds for the model");
    return [];
  }
  const text =
    part.type === "text" ? textOf(part.text) : part.type === "subtask" ? textOf(part.prompt) : undefined;
  if (text !== undefined) return [{ type: "text", text }];
  if (part.type === "file") return imagesIn([part], lossy);
  if (part.type !== "text") lossy.addNamed(otherPart(part.type));
  return [];
}

/** Files are not opened: what stands in the session itself is taken. */
function imagesIn(files: readonly unknown[], lossy: Lossy): Block[] {
  return files.filter(isObject).flatMap(({ mime, url, filename }): Block[] => {
    if (wordOf(mime).startsWith("image/")) {
      const image = imageAt(url, lossy);
      return image ? [image as Block] : [];
    }
    lossy.add("attached files that are no images");
    const named = textOf(filename);
    return named ? [{ type: "text", text: `[attached: ${named}]` }] : [];
  });
}

function otherPart(type: unknown): string {
  return `parts of the type ${kindOf(type)}`;
}

/** What only says where a step begins and ends is in the message as well. */
const SILENT = new Set(["step-start", "step-finish"]);

function answerOf(info: Json, parts: readonly Json[], timestamp: string, lossy: Lossy): Made {
  const answer = new Answer(lossy);
  const waiting = parts.filter((part) => take(answer, part, lossy));
  const error = objectOf(info.error);
  answer.say("text", objectOf(error.data).message ?? error.message);
  const message = answer.message(timestamp, {
    stopReason: endOf(info, error),
    model: textOf(info.modelID) ?? textOf(objectOf(info.model).id),
    tokens: countsOf(objectOf(info.tokens)),
  });
  const completed = objectOf(info.time).completed !== undefined || error.name !== undefined;
  return { message, open: waiting.length > 0 || !completed };
}

/** Answers whether its result is still to come. */
function take(answer: Answer, part: Json, lossy: Lossy): boolean {
  if (part.type === "tool") return callOf(answer, part, lossy);
  if (part.type === "text") answer.say("text", part.text);
  else if (part.type === "reasoning") answer.say("thinking", part.text);
  else if (part.type === "file") answer.show(imagesIn([part], lossy));
  else if (!SILENT.has(wordOf(part.type))) lossy.addNamed(otherPart(part.type));
  return false;
}

function countsOf({ input, output, reasoning, cache }: Json) {
  const { read, write } = objectOf(cache);
  const said = numberOf(output);
  return tokensOf({
    input: numberOf(input),
    output: said === undefined ? undefined : said + (numberOf(reasoning) ?? 0),
    besides: (numberOf(read) ?? 0) + (numberOf(write) ?? 0),
    cached: numberOf(read),
  });
}

function endOf({ finish }: Json, { name }: Json): string | undefined {
  if (name !== undefined) return name === "MessageAbortedError" ? "cancelled" : "error";
  return STOP_REASONS.get(wordOf(finish));
}

/** Answers whether its result is still to come. */
function callOf(answer: Answer, part: Json, lossy: Lossy): boolean {
  const state = objectOf(part.state);
  const { start, end } = objectOf(state.time);
  const duration = numberOf((numberOf(end) ?? Number.NaN) - (numberOf(start) ?? Number.NaN));
  const output = textOf(state.output) ?? textOf(state.error) ?? jsonText(state.error, lossy);
  const ended = state.status === "completed" || state.status === "error";
  const diff = diffOf(state);
  const call = {
    toolCallId: textOf(part.callID) ?? textOf(part.id) ?? `call_${answer.toolCalls.length + 1}`,
    name: textOf(part.tool) ?? "tool",
    status: state.status === "completed" ? ("completed" as const) : ("failed" as const),
    input: jsonText(state.input, lossy) ?? textOf(state.raw) ?? "{}",
    ...(textOf(state.title) && { title: wordOf(state.title) }),
    ...(ended && { output: output ?? "" }),
    ...(duration !== undefined && duration >= 0 && { duration }),
    ...(diff && { diff }),
  };
  answer.call(call, imagesIn(listOf(state.attachments), lossy));
  return !ended;
}

/** The whole file before and after where opencode kept it, else what was replaced, or the file that was made. */
function diffOf({ metadata, input }: Json) {
  const { filediff, exists, filepath } = objectOf(metadata);
  const { file, before, after } = objectOf(filediff);
  if (typeof file === "string" && typeof before === "string" && typeof after === "string")
    return { path: file, oldText: before, newText: after };
  const { filePath, oldString, newString, content } = objectOf(input);
  const path = textOf(filePath) ?? textOf(filepath);
  if (path === undefined) return undefined;
  if (typeof oldString === "string" && typeof newString === "string")
    return { path, oldText: oldString, newText: newString };
  return exists === false && typeof content === "string"
    ? { path, oldText: "", newText: content }
    : undefined;
}
