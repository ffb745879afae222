import { randomUUID } from "node:crypto";
import type { Message } from "../atsf/index.js";
import { encodeMessage, promptMessagesOf } from "../prompts/index.js";
import type { RunContent } from "../protocol/index.js";
import type { RunRow } from "../store/index.js";
import { beginningOf, withThread } from "../threads/index.js";
import type { RunsDeps } from "./deps.js";
import { runsError } from "./errors.js";
import { requestOf } from "./find.js";
import type { Origin } from "./fold/events.js";
import type { ActiveRun } from "./fold/state.js";
import type { Input, SessionKey } from "./session/parts.js";
import type { ThreadSession } from "./session/session.js";

const MAX_BYTES = 16 * 1024 * 1024;
const PREVIEW_CHARS = 500;

/** Images become files of the thread first, so that a message that waits has them too. */
export async function readInput(
  deps: RunsDeps,
  key: SessionKey,
  { content, run_id, at, from }: { content: RunContent; run_id: string; at: number; from?: Sender },
): Promise<Input> {
  const blocks = blocksOf(content);
  // What is refused leaves no file behind.
  const { message, ...told } = await encodeInput(blocks, at);
  const kept = await saveImages(deps, key, blocks);
  const heddle = { runId: run_id, ...(from && { from: senderOf(from) }) };
  return { ...told, message: { ...message, content: kept, heddle } };
}

type Sender = Pick<Origin, "kind" | "agent_id" | "thread_id" | "run_id"> | undefined;

/** Who sent a message that no person did, as it stands in the thread's file. */
function senderOf({ kind, agent_id, thread_id, run_id }: NonNullable<Sender>) {
  return { kind, agentId: agent_id, threadId: thread_id, ...(run_id !== undefined && { runId: run_id }) };
}

/** The same without leaving anything behind: for a look at what would be sent. */
export async function previewInput(content: RunContent, at: number): Promise<Input> {
  return encodeInput(blocksOf(content), at);
}

/** The same from what the journal has of it: the gateway that read it is gone. */
export async function restoreInput(
  deps: RunsDeps,
  key: SessionKey,
  given: { input: string; message_id: string; run_id: string; at: number; from?: Sender },
): Promise<Input> {
  const [prompt] = (await deps.texts.load([given.input])).get(given.input)?.messages ?? [];
  const parts = prompt?.content ?? "";
  const content = typeof parts === "string" ? parts : parts.filter(({ type }) => type !== "thinking");
  const { message, ...rest } = await readInput(deps, key, { ...given, content: content as RunContent });
  return { ...rest, message: { ...message, id: given.message_id } };
}

/** What a run was asked; read anew from the journal where the gateway that took it is gone. */
export async function inputOf(deps: RunsDeps, session: ThreadSession, run: ActiveRun): Promise<Input> {
  const { user_message_id: message_id, input, run_id, origin: from } = run;
  const known = session.inputs.get(message_id);
  if (known) return known;
  const row = session.position.rows.get(run_id) as RunRow;
  const { at } = await deps.store.read(() => requestOf(row));
  return restoreInput(deps, session.key, { input, message_id, run_id, at, from });
}

export async function steeringOf(
  deps: RunsDeps,
  session: ThreadSession,
  { input, user_message_id: message_id, origin: from }: ActiveRun["steered"][number],
): Promise<Input> {
  const known = session.inputs.get(message_id);
  if (known) return known;
  const { run_id } = session.active as ActiveRun;
  return restoreInput(deps, session.key, { input, message_id, run_id, at: deps.clock.now(), from });
}

type Blocks = Exclude<RunContent, string>;

async function saveImages(deps: RunsDeps, key: SessionKey, blocks: Blocks): Promise<Message["content"]> {
  if (!blocks.some(({ type }) => type === "image")) return blocks as Message["content"];
  return withThread(deps, key, async (_located, file) => {
    const saved: Message["content"] = [];
    for (const block of blocks) {
      if (block.type === "text") saved.push(block);
      else {
        const assetRef = await file.saveAsset(Buffer.from(block.data, "base64"), block.mimeType);
        saved.push({ type: "image", assetRef, mimeType: block.mimeType });
      }
    }
    return saved;
  });
}

/** Base64 can be written in several ways; what is told later is written anew from the file. */
function blocksOf(content: RunContent): Blocks {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return content.map((block) =>
    block.type === "image" ? { ...block, data: Buffer.from(block.data, "base64").toString("base64") } : block,
  );
}

async function encodeInput(blocks: Blocks, at: number): Promise<Input> {
  const content = blocks.map((block) =>
    block.type === "text" ? block : { type: "image" as const, assetRef: "", mimeType: block.mimeType },
  );
  const timestamp = new Date(at).toISOString();
  const message: Message = { id: randomUUID(), role: "user", timestamp, content };
  const images = blocks.flatMap((block) => (block.type === "image" ? [block.data] : []));
  const [prompt] = await promptMessagesOf(message, async () => images.shift());
  const encoded = encodeMessage(prompt ?? { role: "user", content: "" });
  if (Buffer.byteLength(encoded.text) > MAX_BYTES) {
    throw runsError(
      { kind: "run.input_too_large", limit: MAX_BYTES },
      `A message may have ${MAX_BYTES} bytes, images included. Send less, or smaller images.`,
    );
  }
  return { message, encoded, preview: previewOf(content) };
}

function previewOf(content: Message["content"]): string {
  const texts = content.map((block) => (block.type === "text" ? String(block.text) : "[image]"));
  return beginningOf(texts.join("\n"), PREVIEW_CHARS);
}
