import { Answer, type Block, blocksOf, type Made, NO_TIME, outputOf } from "../blocks.js";
import { imageAt } from "../image.js";
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
import { type Kept, type KeptAnswer, type KeptUser, type Line, readLine } from "./kept.js";
import { textsOfPatch } from "./patch.js";

/** What a part of a rollout says. */
export async function codexMessage(kept: Kept, lossy: Lossy): Promise<Made> {
  if (kept.kind === "user") return userMessage(kept, lossy);
  if (kept.kind === "answer") return answerOf(kept, lossy);
  const line = await readLine(kept.said);
  const text = textOf(objectOf(line.payload).message) ?? "";
  const content: Block[] = [{ type: "text", text }];
  return { open: false, message: { role: "system", timestamp: timeOf(line.timestamp) ?? NO_TIME, content } };
}

async function userMessage({ said, sent }: KeptUser, lossy: Lossy): Promise<Made> {
  const line = await readLine(said);
  const payload = objectOf(line.payload);
  const item = objectOf(payload.item);
  const told = payload.type === "user_message" ? payload.message : (item.content ?? payload.content);
  const texts = textBlocks(told);
  const images = sent
    ? blocksOf(objectOf((await readLine(sent)).payload).content, lossy).filter(({ type }) => type === "image")
    : imagesTold(payload, item, lossy);
  const timestamp = timeOf(line.timestamp) ?? NO_TIME;
  return { open: false, message: { role: "user", timestamp, content: [...texts, ...images] } };
}

function textBlocks(told: unknown): Block[] {
  if (typeof told === "string") return told === "" ? [] : [{ type: "text", text: told }];
  const texts = listOf(told)
    .filter(isObject)
    .flatMap((block) => textOf(block.text) ?? []);
  return texts.map((text) => ({ type: "text", text }));
}

/** Images that are named by a path are not opened: they may be anything by now. */
function imagesTold(payload: Json, item: Json, lossy: Lossy): Block[] {
  const named = listOf(item.content).filter(isObject);
  const addresses = [...listOf(payload.images), ...named.flatMap(({ image_url }) => image_url ?? [])];
  const local =
    listOf(payload.local_images).length + named.filter(({ type }) => type === "local_image").length;
  if (local > 0) lossy.add("images that only a path names", local);
  return addresses.flatMap((address) => (imageAt(address, lossy) as Block | undefined) ?? []);
}

async function answerOf(kept: KeptAnswer, lossy: Lossy): Promise<Made> {
  const answer = new Answer(lossy);
  let timestamp: string | undefined;
  for (const line of kept.items) {
    const { payload, timestamp: at } = await readLine(line);
    timestamp ??= timeOf(at);
    await take(answer, objectOf(payload), kept, lossy);
  }
  const { stopReason, model, tokens } = kept;
  const unanswered = [...kept.calls].some((call) => !kept.results.has(call));
  return {
    message: answer.message(timestamp ?? NO_TIME, { stopReason, model, tokens }),
    open: !kept.ended && (kept.calls.size === 0 || unanswered),
  };
}

async function take(answer: Answer, payload: Json, kept: KeptAnswer, lossy: Lossy): Promise<void> {
  if (payload.type === "reasoning") think(answer, payload, lossy);
  else if (payload.type !== "message") await callOf(answer, payload, kept, lossy);
  else for (const block of blocksOf(payload.content, lossy)) answer.say("text", block.text);
}

function think(answer: Answer, { summary, content, encrypted_content }: Json, lossy: Lossy): void {
  const texts = [...listOf(summary), ...listOf(content)]
    .filter(isObject)
    .flatMap(({ text }) => textOf(text) ?? []);
  for (const text of texts) answer.say("thinking", text);
  if (texts.length === 0 && textOf(encrypted_content))
    lossy.add("thoughts that the provider keeps to itself");
}

async function callOf(answer: Answer, payload: Json, kept: KeptAnswer, lossy: Lossy): Promise<void> {
  const id = textOf(payload.call_id) ?? textOf(payload.id) ?? `call_${answer.toolCalls.length + 1}`;
  const result = await payloadOf(kept.results.get(id));
  const detail = await payloadOf(kept.details.get(id));
  const { output, images } = outputOf(unwrapped(result?.output, lossy), lossy);
  const changed = detailOf(detail, lossy);
  const name = textOf(payload.name) ?? wordOf(payload.type).replace(/_call$/, "");
  const namespace = textOf(payload.namespace);
  const awaited = kept.calls.has(id);
  const call = {
    toolCallId: id,
    name: namespace === undefined ? name : `${namespace}.${name}`,
    status: (awaited ? result !== undefined && !changed.failed : payload.status !== "failed")
      ? ("completed" as const)
      : ("failed" as const),
    input: jsonText(payload.arguments ?? payload.input ?? payload.action, lossy) ?? "{}",
    ...(result && { output }),
    ...(changed.duration !== undefined && { duration: changed.duration }),
    ...(changed.diff && { diff: changed.diff }),
  };
  answer.call(call, images);
}

async function payloadOf(line: Line | undefined): Promise<Json | undefined> {
  return line && objectOf((await readLine(line)).payload);
}

function unwrapped(output: unknown, lossy: Lossy): unknown {
  return isObject(output) ? (output.content ?? jsonText(output, lossy)) : output;
}

/** What Codex noted of a call: whether it failed, how long it took, which file it changed. */
function detailOf(detail: Json | undefined, lossy: Lossy) {
  const item = objectOf(detail?.item ?? detail);
  const { secs, nanos } = objectOf(item.duration);
  const seconds = numberOf(secs);
  const failed = item.status === "failed" || item.status === "declined" || item.success === false;
  const [first, ...more] = Object.entries(objectOf(item.changes));
  if (more.length > 0)
    lossy.add("diffs of further files of one patch (the patch itself is there)", more.length);
  return {
    failed,
    duration: numberOf((seconds ?? Number.NaN) * 1000 + Math.round((numberOf(nanos) ?? 0) / 1e6)),
    diff: first && diffOf(first[0], objectOf(first[1])),
  };
}

function diffOf(path: string, change: Json) {
  const { content, unified_diff } = change;
  const kind = wordOf(change.type ?? Object.keys(change)[0]);
  const inner = isObject(change[kind]) ? (change[kind] as Json) : change;
  if (kind === "add") return { path, oldText: "", newText: wordOf(inner.content ?? content ?? "") };
  if (kind === "delete") return { path, oldText: wordOf(inner.content ?? content ?? ""), newText: "" };
  const patch = inner.unified_diff ?? unified_diff;
  return typeof patch === "string" ? { path, ...textsOfPatch(patch) } : undefined;
}
