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
 * conversation into another and then into text, each time anew; here each is written once, by the same code, and kept as
 * long as the message is.
 */
export function chatBodies({ dialect, includeUsage }: ChatBodyOptions): (request: GenerateRequest) => string {
  const messages = new WeakMap<PromptMessage, string>();
  const tools = new WeakMap<object, string>();
  const end = `,"stream":true${includeUsage ? ',"stream_options":{"include_usage":true}' : ""}}`;
  return ({ model, messages: told, tools: offered = [], params = {} }) => {
    const { max_tokens, temperature, reasoning_effort } = params;
    const head = JSON.stringify({
      model,
      max_tokens,
      temperature,
      // Nothing is not sent, as with the API's own code.
      reasoning_effort: reasoning_effort || undefined,
    });
    const written = [instructions(told), ...told.map((message) => kept(messages, message, textFor(dialect)))];
    const list = written.filter((text) => text !== "").join(",");
    return `${head.slice(0, -1)},"messages":[${list}]${kept(tools, offered, toolsText)}${end}`;
  };
}

function kept<K extends object>(known: WeakMap<K, string>, key: K, write: (key: K) => string): string {
  const found = known.get(key);
  if (found !== undefined) return found;
  const text = write(key);
  known.set(key, text);
  return text;
}

function isInstruction({ role }: PromptMessage): boolean {
  return role === "system" || role === "developer";
}

function instructions(told: readonly PromptMessage[]): string {
  const texts = told.filter(isInstruction).map(textOf);
  return texts.length === 0 ? "" : listed([{ role: "system", content: texts.join("\n\n") }]);
}

/** No message depends on another: the names of calls, which other APIs want with their results, are not sent here. */
function textFor(dialect: Dialect): (message: PromptMessage) => string {
  return (message) => (isInstruction(message) ? "" : listed(modelMessage(message, dialect, NO_NAMES)));
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
