import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { HttpConfig } from "../config.js";
import { isObject, type JsonObject, type Reading, serverWords, type Wire } from "../http/wire.js";
import type { Model, ModelFetch, WrittenRequest } from "../model-api.js";
import { type Dialect, modelCall } from "../model-prompt.js";
import { overHttp } from "../over-http.js";
import type { Provider } from "../provider.js";
import { chatBodies } from "./chat-body.js";
import { plainChat } from "./plain-chat.js";

/** Chat Completions, as many servers speak it. Only what all of them take is sent. */
export function openaiCompatible(config: CompatibleConfig): Provider {
  const { baseURL, apiKey, headers, includeUsage = true } = config;
  const dialect: Dialect & typeof oneSystem = {
    ...oneSystem,
    returnsThinking: () => config.returnThinking ?? false,
  };
  const key = apiKey ? { apiKey } : {};
  const settings = { name: "openaiCompatible", baseURL, headers: { ...headers }, includeUsage, ...key };
  const model = (fetch: ModelFetch, id: string) =>
    createOpenAICompatible({ ...settings, fetch }).chatModel(id);
  const bodyOf = chatBodies({ dialect, includeUsage });
  let around: Promise<Around> | undefined;
  return overHttp({
    id: "openai-compatible",
    label: "The model server",
    config,
    api: {
      model,
      write: async (request) => {
        around ??= aroundBody(model);
        return { ...(await around), body: bodyOf(request) };
      },
      call: (request) => {
        const effort = request.params?.reasoning_effort;
        const call = modelCall(request, dialect);
        return effort
          ? { ...call, providerOptions: { openaiCompatible: { reasoningEffort: effort } } }
          : call;
      },
      wire: chatWire,
      plain: plainChat,
    },
  });
}

interface CompatibleConfig extends HttpConfig {
  /** Asks for usage in the stream; a few servers refuse to be asked. */
  readonly includeUsage?: boolean | undefined;
  /** Sends thinking back as `reasoning_content`: some models need it between tool calls, some servers refuse it. */
  readonly returnThinking?: boolean | undefined;
}

type Around = Omit<WrittenRequest, "body">;

/** Where the API's own code would send a request, and with which headers: the same for all of a provider's requests. */
async function aroundBody(model: (fetch: ModelFetch, id: string) => Model): Promise<Around> {
  return new Promise((resolve, reject) => {
    const fetch: ModelFetch = async (url, init) => {
      resolve({ url: String(url), headers: init?.headers as Record<string, string> });
      throw new Error("not sent");
    };
    model(fetch, "any").doStream({ prompt: [] }).then(undefined, reject);
  });
}

/** Templates of local models take one system message, at the beginning. */
const oneSystem = { api: "openaiCompatible", oneSystem: true, textResults: true } as const;

function chatWire(): Wire {
  let settled = false;
  return {
    event: (event): Reading => {
      if (event.error) return { error: serverWords(event.error) };
      if (!Array.isArray(event.choices)) return { skip: true };
      if (isObject(event.choices[0]) && event.choices[0].finish_reason) settled = true;
      return settled ? { settled } : {};
    },
    done: () => (settled ? undefined : endWithoutReason),
  };
}

/** A server that says it is done has not broken off, even if it does not say why it stopped. */
const endWithoutReason: JsonObject = { choices: [{ index: 0, delta: {}, finish_reason: "unknown" }] };
