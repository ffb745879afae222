import { createAnthropic } from "@ai-sdk/anthropic";
import type { HttpConfig } from "../config.js";
import { isObject, type JsonObject, type Reading, serverWords, type Wire } from "../http/wire.js";
import type { ModelCall } from "../model-api.js";
import { type Dialect, modelCall } from "../model-prompt.js";
import { overHttp } from "../over-http.js";
import type { GenerateRequest, Provider, ReasoningEffort } from "../provider.js";

/** Anthropic's Messages API, with its prompt cache on the instructions and on the conversation so far. */
export function anthropic(config: HttpConfig): Provider {
  const { baseURL, apiKey = "", headers } = config;
  const settings = { baseURL, apiKey, headers: { ...headers } };
  return overHttp({
    id: "anthropic",
    label: "Anthropic",
    config,
    api: {
      model: (fetch, id) => createAnthropic({ ...settings, fetch })(id),
      call: (request) =>
        cached({ ...modelCall(request, dialect), providerOptions: { anthropic: options(request) } }),
      wire: messagesWire,
    },
  });
}

const dialect: Dialect = {
  api: "anthropic",
  oneSystem: true,
  returnsThinking: (data) => typeof data?.signature === "string" || typeof data?.redactedData === "string",
};

/** Marks the end of the instructions and the end of the conversation: the next request begins with both. */
function cached(call: ModelCall): ModelCall {
  const last = call.prompt.length - 1;
  const mark = { anthropic: { cacheControl: { type: "ephemeral" } } };
  return {
    ...call,
    prompt: call.prompt.map((message, index) =>
      message.role === "system" || index === last ? { ...message, providerOptions: mark } : message,
    ),
  };
}

function options({ model, params }: GenerateRequest) {
  // Otherwise every tool carries a field that servers with a compatible API refuse.
  return { toolStreaming: false, ...thinking(model, params?.reasoning_effort) };
}

/** Older models take a number of tokens to think with, newer ones decide by themselves within an effort. */
function thinking(model: string, effort: ReasoningEffort | undefined) {
  if (effort === undefined || /claude-(?:3-(?!7)|instant|2)/.test(model)) return {};
  if (effort === "none") return { thinking: { type: "disabled" } };
  if (/claude-(?:3-7|(?:sonnet|opus|haiku)-4-(?:[015](?!\d)|20\d{6}))/.test(model))
    return { thinking: { type: "enabled", budgetTokens: budgets[effort] } };
  return {
    thinking: { type: "adaptive", display: "summarized" },
    effort: effort === "minimal" ? "low" : effort,
  };
}

const budgets = { minimal: 1_024, low: 4_096, medium: 10_000, high: 20_000, xhigh: 30_000, max: 30_000 };

const blocks = new Set(["text", "thinking", "redacted_thinking", "tool_use"]);
const deltas = new Set(["text_delta", "thinking_delta", "signature_delta", "input_json_delta"]);

function messagesWire(): Wire {
  /** Blocks of kinds we don't know; what belongs to them is left out with them. */
  const unknown = new Set<unknown>();
  return {
    event: (event): Reading => {
      switch (event.type) {
        case "error":
          return { error: serverWords(event.error) };
        case "message_start":
          return { instead: withUsage(event, event.message) };
        case "message_delta":
          return { instead: { ...event, usage: usageOf(event, "output_tokens") } };
        case "message_stop":
          return { last: true };
        case "content_block_start":
        case "content_block_delta":
        case "content_block_stop":
          return isKnown(event, unknown) ? {} : { skip: true };
        default:
          return { skip: true };
      }
    },
  };
}

function isKnown({ type, index, content_block, delta }: JsonObject, unknown: Set<unknown>): boolean {
  if (type === "content_block_start" && !blocks.has(kindOf(content_block))) unknown.add(index);
  if (type === "content_block_delta" && !deltas.has(kindOf(delta))) return false;
  return !unknown.has(index);
}

function kindOf(value: unknown): string {
  return isObject(value) ? String(value.type) : "";
}

/** Servers with a compatible API leave figures out that the library insists on. */
function withUsage(event: JsonObject, message: unknown): JsonObject {
  if (!isObject(message)) return event;
  return { ...event, message: { ...message, content: [], usage: usageOf(message, "input_tokens") } };
}

function usageOf({ usage }: JsonObject, figure: string): JsonObject {
  return { [figure]: 0, ...(isObject(usage) ? usage : {}) };
}
