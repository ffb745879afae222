import { createOpenAI } from "@ai-sdk/openai";
import type { HttpConfig } from "../config.js";
import { isObject, type Reading, serverWords, type Wire } from "../http/wire.js";
import { type Dialect, modelCall } from "../model-prompt.js";
import { overHttp } from "../over-http.js";
import type { GenerateRequest, Provider } from "../provider.js";

/** OpenAI's Responses API. Nothing is stored at the server: the whole conversation is sent each time. */
export function openai(config: OpenAIConfig): Provider {
  const { baseURL, apiKey = "", headers, reasoningSummary } = config;
  const settings = { baseURL, apiKey, headers: { ...headers } };
  return overHttp({
    id: "openai",
    label: "OpenAI",
    config,
    api: {
      model: (fetch, id) => createOpenAI({ ...settings, fetch }).responses(id),
      call: (request) => ({
        ...modelCall(request, dialect),
        providerOptions: { openai: options(request, reasoningSummary) },
      }),
      wire: responsesWire,
    },
  });
}

interface OpenAIConfig extends HttpConfig {
  /** Summaries of thinking need a verified organisation, so they are asked for only when they are wanted. */
  readonly reasoningSummary?: "auto" | "concise" | "detailed" | undefined;
}

const dialect: Dialect = {
  api: "openai",
  argumentsAsText: true,
  // Without its encrypted content the server would look for the thought in its own store, where it is not.
  returnsThinking: (data) => typeof data?.reasoningEncryptedContent === "string",
};

function options({ params, cacheKey }: GenerateRequest, reasoningSummary: OpenAIConfig["reasoningSummary"]) {
  return {
    store: false,
    ...(params?.reasoning_effort ? { reasoningEffort: params.reasoning_effort } : {}),
    ...(reasoningSummary ? { reasoningSummary } : {}),
    ...(cacheKey ? { promptCacheKey: cacheKey } : {}),
  };
}

function responsesWire(): Wire {
  return {
    event: (event): Reading => {
      const { type, response } = event;
      if (type === "error") return { error: serverWords(event.error ?? { ...event, type: undefined }) };
      if (type === "response.failed")
        return { error: serverWords(isObject(response) ? response.error : undefined) };
      if (Array.isArray(event.choices)) return { error: otherProtocol };
      if (typeof type !== "string") return { skip: true };
      return type === "response.completed" || type === "response.incomplete" ? { last: true } : {};
    },
  };
}

const otherProtocol = {
  hint: "unsupported",
  message: "this server speaks Chat Completions; use the provider openai-compatible for it",
};
