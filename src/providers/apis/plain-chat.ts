import { isObject, type JsonObject } from "../http/wire.js";
import type { ModelPart, PlainReader } from "../model-api.js";

type Finish = Extract<ModelPart, { type: "finish" }>;

/**
 * Reads Chat Completions that are nothing but words. Whatever it is not sure of (a call, a thought, a type that does not
 * fit) is left to the API's own code.
 */
export function plainChat(): PlainReader {
  let reason: string | undefined;
  let usage: JsonObject | undefined;
  return {
    read: (event) => {
      const { choices } = event;
      if (!Array.isArray(choices) || !isUsage(event.usage)) return undefined;
      const [choice = {}] = choices;
      if (!isObject(choice) || !isWord(choice.finish_reason)) return undefined;
      const words = wordsOf(choice.delta);
      // Words and an end in one: whoever reads on after that must know of the end, and not hear the words again.
      if (words === undefined || (words !== "" && (choice.finish_reason ?? event.usage))) return undefined;
      reason = choice.finish_reason ?? reason;
      usage = event.usage ?? usage;
      return words;
    },
    end: () => (reason === undefined ? undefined : finishOf(reason, usage)),
  };
}

function wordsOf(delta: unknown): string | undefined {
  if (delta === undefined || delta === null) return "";
  if (!isObject(delta)) return undefined;
  const { role, content, reasoning, reasoning_content, tool_calls } = delta;
  const knows = role === undefined || role === null || role === "assistant" || role === "";
  const more = [reasoning, reasoning_content, tool_calls].some((one) => one !== undefined && one !== null);
  return knows && !more && isWord(content) ? (content ?? "") : undefined;
}

function isWord(value: unknown): value is string | null | undefined {
  return value === undefined || value === null || typeof value === "string";
}

function isCount(value: unknown): value is number | null | undefined {
  return value === undefined || value === null || typeof value === "number";
}

function isUsage(value: unknown): value is JsonObject | null | undefined {
  if (value === undefined || value === null) return true;
  if (!isObject(value) || !isCount(value.prompt_tokens) || !isCount(value.completion_tokens)) return false;
  return [value.prompt_tokens_details, value.completion_tokens_details].every(
    (details) => details === undefined || details === null || (isObject(details) && haveCounts(details)),
  );
}

function haveCounts({ cached_tokens, reasoning_tokens }: JsonObject): boolean {
  return isCount(cached_tokens) && isCount(reasoning_tokens);
}

const REASONS: Readonly<Record<string, Finish["finishReason"]["unified"]>> = {
  stop: "stop",
  length: "length",
  content_filter: "content-filter",
  function_call: "tool-calls",
  tool_calls: "tool-calls",
};

function finishOf(raw: string, usage: JsonObject | undefined): Finish {
  const unified = Object.hasOwn(REASONS, raw) ? (REASONS[raw] ?? "other") : "other";
  return { type: "finish", finishReason: { unified, raw }, usage: usageOf(usage) };
}

function usageOf(usage: JsonObject | undefined): Finish["usage"] {
  const none = { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined };
  if (!usage)
    return { inputTokens: none, outputTokens: { total: undefined, text: undefined, reasoning: undefined } };
  const input = countOf(usage.prompt_tokens);
  const output = countOf(usage.completion_tokens);
  const cached = countOf((usage.prompt_tokens_details as JsonObject | null | undefined)?.cached_tokens);
  const thought = countOf(
    (usage.completion_tokens_details as JsonObject | null | undefined)?.reasoning_tokens,
  );
  return {
    inputTokens: { total: input, noCache: input - cached, cacheRead: cached, cacheWrite: undefined },
    outputTokens: { total: output, text: Math.max(0, output - thought), reasoning: thought },
  };
}

function countOf(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
