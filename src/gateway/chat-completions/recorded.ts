import { sha256 } from "../../base/index.js";
import type { Message } from "../../protocol/index.js";
import type { Block, Past } from "./conversation.js";

/** Between two pieces of text of one answer, with tools in between: a client sees them as one. */
export const BETWEEN = "\n\n";

/** What a recorded message says, as a client of this endpoint was given it. */
export function textOf({ content }: Pick<Message, "content">): string {
  return content
    .flatMap((block) => (block.type === "text" && typeof block.text === "string" ? [block.text] : []))
    .join(BETWEEN);
}

/** The thoughts that led to it. */
export function thinkingOf({ content }: Pick<Message, "content">): string {
  return content
    .flatMap((block) => (block.type === "thinking" && typeof block.text === "string" ? [block.text] : []))
    .join(BETWEEN);
}

/**
 * Whether a recorded message is what a client sends back. Clients trim and join lines, and what was told live may stand
 * closer together: only the words count.
 */
export function isSame(message: Message, past: Past): boolean {
  if (message.role !== past.role || words(textOf(message)) !== words(textOfBlocks(past.blocks))) return false;
  if (imagesIn(message).join() !== past.blocks.flatMap(imageName).join()) return false;
  // What our own agents call stays with us: a client knows only of calls that it brought along.
  return past.calls.every(({ id, output }) =>
    message.toolCalls?.some((call) => call.toolCallId === id && (call.output ?? "") === (output ?? "")),
  );
}

/** An answer of which a client has seen nothing: it may leave it out, or send it back without words. */
export function isSilent(message: Message): boolean {
  return message.role === "agent" && words(textOf(message)) === "" && imagesIn(message).length === 0;
}

/** Names the beginning of a conversation. */
export function beginningOf(first: readonly Block[]): string {
  return sha256(JSON.stringify([words(textOfBlocks(first)), first.flatMap(imageName)]));
}

/** A message as it is recorded when a conversation was begun elsewhere. */
export function messageOf({ role, blocks, calls }: Past) {
  return {
    role,
    content: [...blocks, ...calls.map(({ id }) => ({ type: "tool_call_ref", toolCallId: id }))],
    ...(calls.length > 0 && { toolCalls: calls.map(callOf) }),
  };
}

function callOf({ id, name, input, output }: Past["calls"][number]) {
  return {
    toolCallId: id,
    name,
    status: output === undefined ? ("failed" as const) : ("completed" as const),
    input,
    ...(output !== undefined && { output }),
  };
}

function textOfBlocks(blocks: readonly Block[]): string {
  return blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(BETWEEN);
}

function words(text: string): string {
  return text.replace(/\s+/g, "");
}

const HASH_CHARS = 16;

/** Images of a thread are files that are named by the hash of their bytes. */
function imageName(block: Block): string[] {
  return block.type === "image" ? [sha256(Buffer.from(block.data, "base64")).slice(0, HASH_CHARS)] : [];
}

function imagesIn({ content }: Message): string[] {
  return content.flatMap((block) =>
    block.type === "image" ? [/^sha256-([0-9a-f]{16})/.exec(String(block.assetRef))?.[1] ?? "?"] : [],
  );
}
