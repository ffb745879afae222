import type { RunContent } from "../../protocol/index.js";
import { chatError } from "./errors.js";
import type { ChatContent, ChatMessage } from "./request.js";

export type Block = Exclude<RunContent, string>[number];

export interface PastCall {
  readonly id: string;
  readonly name: string;
  readonly input: string;
  output?: string;
}

/** A message that was said before, by the user or by whichever model. */
export interface Past {
  readonly role: "user" | "agent";
  readonly blocks: readonly Block[];
  readonly calls: readonly PastCall[];
}

/** A stateless list of messages as what it means: what is told, what was said, and what is asked now. */
export interface Conversation {
  /** The caller's own instructions; empty when there are none. */
  readonly system: string;
  readonly past: readonly Past[];
  readonly question: readonly Block[];
}

export function readConversation(messages: readonly ChatMessage[]): Conversation {
  const system: string[] = [];
  const past: Past[] = [];
  for (const message of messages) {
    if (message.role === "user" || message.role === "assistant") past.push(pastOf(message));
    else if (message.role === "tool") giveOutput(past, message.tool_call_id, textOf(message.content));
    else system.push(textOf(message.content));
  }
  const question = past.pop();
  if (question?.role !== "user" || messages.at(-1)?.role === "tool") throw noQuestion();
  if (question.blocks.length === 0) throw noQuestion();
  return {
    system: system.filter((text) => text.trim() !== "").join("\n\n"),
    past: past.filter(({ blocks, calls }) => blocks.length > 0 || calls.length > 0),
    question: question.blocks,
  };
}

function noQuestion() {
  return chatError(
    { kind: "chat.invalid", param: "messages" },
    "The last message must be one of the user that says something.",
  );
}

function pastOf(message: Extract<ChatMessage, { role: "user" | "assistant" }>): Past {
  const blocks = blocksOf(message.content ?? "");
  if (message.role === "user") return { role: "user", blocks, calls: [] };
  const calls = (message.tool_calls ?? []).map(({ id, function: called }) => ({
    id,
    name: called?.name ?? "tool",
    input: called?.arguments ?? "{}",
  }));
  return { role: "agent", blocks, calls };
}

/** An answer to a call that nobody made says nothing. */
function giveOutput(past: readonly Past[], id: string, output: string): void {
  const call = past.flatMap(({ calls }) => calls).findLast((one) => one.id === id);
  if (call) call.output = output;
}

function textOf(content: ChatContent): string {
  return blocksOf(content)
    .map((block) => (block.type === "text" ? block.text : "[image]"))
    .join("\n\n");
}

function blocksOf(content: ChatContent): Block[] {
  if (typeof content === "string") return content.trim() === "" ? [] : [{ type: "text", text: content }];
  return content.flatMap((part): Block[] => {
    if (part.type === "image_url") return [imageOf(part.image_url)];
    const text = part.type === "refusal" ? part.refusal : part.text;
    return text.trim() === "" ? [] : [{ type: "text", text }];
  });
}

const DATA_URL = /^data:(image\/[a-z0-9][a-z0-9.+-]*);base64,([A-Za-z0-9+/]+={0,2})$/;

/** Nothing is fetched from an address that a client names. */
function imageOf(given: string | { readonly url: string }): Block {
  const url = typeof given === "string" ? given : given.url;
  const [, mimeType, data] = DATA_URL.exec(url) ?? [];
  if (mimeType !== undefined && data !== undefined) return { type: "image", mimeType, data };
  throw chatError(
    { kind: "chat.invalid", param: "messages" },
    "An image must be a data URL (data:image/png;base64,…). Addresses are not fetched.",
  );
}
