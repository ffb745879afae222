import type { Message } from "../../atsf/index.js";
import { sha256 } from "../../base/index.js";
import type { PromptMessage } from "../../providers/index.js";

type Block = Message["content"][number];
type ToolCall = NonNullable<Message["toolCalls"]>[number];
/** Bytes of an image of the thread as base64; undefined when they are gone. */
export type ReadImage = (assetRef: string) => Promise<string | undefined>;

/**
 * What a message of the log is for a model. The same log message gives the same prompt messages, so whoever sends it
 * again sends the same bytes. A message that says nothing gives none.
 */
export async function promptMessagesOf(message: Message, readImage: ReadImage): Promise<PromptMessage[]> {
  if (message.role === "agent") return agentMessages(message);
  const content = await contentOf(message.content, readImage);
  return content === undefined ? [] : [{ role: message.role, content }];
}

/** One text is a string; images and several blocks are parts. */
async function contentOf(
  blocks: readonly Block[],
  readImage: ReadImage,
): Promise<PromptMessage["content"] | undefined> {
  const parts: Exclude<PromptMessage["content"], string> = [];
  for (const block of blocks) {
    if (block?.type === "text" && typeof block.text === "string" && block.text !== "")
      parts.push({ type: "text", text: block.text });
    else if (block?.type === "image") parts.push(await imagePart(block, readImage));
  }
  const [only] = parts;
  if (!only) return undefined;
  return parts.length === 1 && only.type === "text" ? only.text : parts;
}

async function imagePart(block: Block, readImage: ReadImage) {
  const { assetRef, mimeType } = block as { assetRef?: unknown; mimeType?: unknown };
  const data = typeof assetRef === "string" ? await readImage(assetRef) : undefined;
  if (!data || typeof mimeType !== "string" || !/^image\/[a-z0-9][a-z0-9.+-]*$/.test(mimeType))
    return { type: "text" as const, text: "[an image that is not there any more]" };
  return { type: "image" as const, data, mimeType };
}

/** What another program's agent said and did, step by step where it says so. Its thoughts are its own. */
function agentMessages({ content, toolCalls }: Message): PromptMessage[] {
  const calls = new Map(
    (Array.isArray(toolCalls) ? toolCalls : []).filter(isCall).map((call) => [call.toolCallId, call]),
  );
  const told: PromptMessage[] = [];
  let text = "";
  let asked: ToolCall[] = [];
  const close = () => {
    told.push(...stepMessages(text, asked));
    text = "";
    asked = [];
  };
  for (const block of content) {
    if (block?.type === "tool_call_ref") {
      const call = calls.get(String(block.toolCallId));
      if (call && calls.delete(call.toolCallId)) asked.push(call);
    } else if (block?.type === "text" && typeof block.text === "string") {
      if (asked.length > 0) close();
      text += block.text;
    }
  }
  // Calls that no block stands for were made before what was said in the end.
  if (asked.length > 0) close();
  return [...stepMessages("", [...calls.values()]), ...told, ...stepMessages(text, [])];
}

function isCall(call: unknown): call is ToolCall {
  const { toolCallId, name } = (call ?? {}) as { toolCallId?: unknown; name?: unknown };
  return typeof toolCallId === "string" && toolCallId !== "" && typeof name === "string" && name !== "";
}

function stepMessages(text: string, calls: readonly ToolCall[]): PromptMessage[] {
  if (calls.length === 0) return text === "" ? [] : [{ role: "assistant", content: text }];
  const tool_calls = calls.map(({ toolCallId, name, input }) => ({
    id: plainId(toolCallId),
    name: plain(name),
    arguments: typeof input === "string" ? input : "{}",
  }));
  const answers = calls.map(
    ({ toolCallId, name, output, status }): PromptMessage => ({
      role: "tool",
      tool_call_id: plainId(toolCallId),
      name: plain(name),
      content: typeof output === "string" ? output : `[${status ?? "no result"}]`,
    }),
  );
  return [{ role: "assistant", content: text, tool_calls }, ...answers];
}

const LONGEST_NAME = 64;

/** What every API takes as a name: for one that it does not take, a server refuses the whole conversation. */
function plain(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, LONGEST_NAME);
}

/** Two ids that differ stay two. */
function plainId(id: string): string {
  return plain(id) === id ? id : `${plain(id).slice(0, LONGEST_NAME - 17)}_${sha256(id).slice(0, 16)}`;
}
