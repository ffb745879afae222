import { convertToOpenAICompatibleChatMessages, prepareTools } from "@ai-sdk/openai-compatible/internal";
import { type Dialect, modelMessage, modelTool } from "../model-prompt.js";
import { type PromptMessage, textOf } from "../prompt-message.js";
import type { GenerateRequest } from "../provider.js";

export interface ChatBodyOptions {
  /** One that joins all instructions. */
  readonly dialect: Dialect & { readonly oneSystem: true };
  readonly includeUsage: boolean;
}

/**
 * Writes Chat Completions requests, in the very bytes of the API's own code. That code turns every message of a
 * conversation into another, then into text and then into bytes, each time anew; here each is written once, by the same
 * code, and kept as long as the message is.
 */
export function chatBodies({
  dialect,
  includeUsage,
}: ChatBodyOptions): (request: GenerateRequest) => Buffer<ArrayBuffer> {
  const tools = new WeakMap<object, Buffer>();
  const instructed = new WeakMap<PromptMessage, Instructions>();
  const said = new WeakMap<PromptMessage, Said>();
  const write = textFor(dialect);
  const end = bytesOf(`,"stream":true${includeUsage ? ',"stream_options":{"include_usage":true}' : ""}}`);
  return ({ model, messages: told, tools: offered = [], params = {} }) => {
    const { max_tokens, temperature, reasoning_effort } = params;
    const head = JSON.stringify({
      model,
      max_tokens,
      temperature,
      // Nothing is not sent, as with the API's own code.
      reasoning_effort: reasoning_effort || undefined,
    });
    const before = instructions(instructed, told.filter(isInstruction));
    const after = conversation(said, told.filter(isSaid), write);
    return Buffer.concat([
      Buffer.from(`${head.slice(0, -1)},"messages":[`),
      before,
      before.length > 0 && after.length > 0 ? COMMA : NO_BYTES,
      after,
      LIST_END,
      toolsOf(tools, offered),
      end,
    ]);
  };
}

const COMMA = Buffer.from(",");
const LIST_END = Buffer.from("]");
const NO_BYTES = Buffer.alloc(0);

/** With memory of its own: a short `Buffer` that is kept would keep the 8 KB it is a slice of. */
function bytesOf(text: string, behind: Uint8Array = NO_BYTES): Buffer {
  const bytes = Buffer.allocUnsafeSlow(behind.length + Buffer.byteLength(text));
  bytes.set(behind);
  bytes.write(text, behind.length);
  return bytes;
}

/** A conversation as it was written last, by its last message. */
interface Said {
  readonly messages: readonly PromptMessage[];
  readonly bytes: Buffer;
}

/** Only what came since is written: a message of a history is the same object for as long as the history is. */
function conversation(
  known: WeakMap<PromptMessage, Said>,
  messages: readonly PromptMessage[],
  write: (message: PromptMessage) => string,
): Buffer {
  const last = messages.at(-1);
  if (!last) return NO_BYTES;
  // By place: the same message may stand there twice.
  const end = messages.findLastIndex((message, at) => isBeginning(known.get(message), messages, at + 1));
  const upTo = messages[end];
  const before = upTo && known.get(upTo);
  if (before && end === messages.length - 1) return before.bytes;
  const more = messages
    .slice(end + 1)
    .map(write)
    .filter(Boolean)
    .join(",");
  const comma = before && before.bytes.length > 0 && more !== "" ? "," : "";
  const bytes = bytesOf(comma + more, before?.bytes);
  if (upTo) known.delete(upTo);
  known.set(last, { messages, bytes });
  return bytes;
}

function isBeginning(said: Said | undefined, messages: readonly PromptMessage[], count: number): boolean {
  return said?.messages.length === count && said.messages.every((one, at) => one === messages[at]);
}

function toolsOf(known: WeakMap<object, Buffer>, offered: NonNullable<GenerateRequest["tools"]>): Buffer {
  const bytes = known.get(offered) ?? bytesOf(toolsText(offered));
  known.set(offered, bytes);
  return bytes;
}

/** What instructions were joined to, by the first of them. */
interface Instructions {
  readonly of: readonly PromptMessage[];
  readonly bytes: Buffer;
}

function instructions(known: WeakMap<PromptMessage, Instructions>, of: readonly PromptMessage[]): Buffer {
  const [first] = of;
  if (!first) return NO_BYTES;
  const found = known.get(first);
  if (found?.of.length === of.length && found.of.every((one, at) => one === of[at])) return found.bytes;
  const bytes = bytesOf(listed([{ role: "system", content: of.map(textOf).join("\n\n") }]));
  known.set(first, { of, bytes });
  return bytes;
}

function isInstruction({ role }: PromptMessage): boolean {
  return role === "system" || role === "developer";
}

function isSaid(message: PromptMessage): boolean {
  return !isInstruction(message);
}

/** No message depends on another: the names of calls, which other APIs want with their results, are not sent here. */
function textFor(dialect: Dialect): (message: PromptMessage) => string {
  return (message) => listed(modelMessage(message, dialect, NO_NAMES));
}

const NO_NAMES: ReadonlyMap<string, string> = new Map();

/** As members of a list, without its brackets. */
function listed(messages: Parameters<typeof convertToOpenAICompatibleChatMessages>[0]): string {
  return JSON.stringify(convertToOpenAICompatibleChatMessages(messages)).slice(1, -1);
}

function toolsText(offered: NonNullable<GenerateRequest["tools"]>): string {
  if (offered.length === 0) return "";
  const { tools, toolChoice } = prepareTools({
    tools: offered.map(modelTool),
    toolChoice: { type: "auto" },
  });
  return `,${JSON.stringify({ tools, tool_choice: toolChoice }).slice(1, -1)}`;
}
