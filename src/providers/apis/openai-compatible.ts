import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { HttpConfig } from "../config.js";
import { isObject, type JsonObject, type Reading, serverWords, type Wire } from "../http/wire.js";
import { type Dialect, modelCall } from "../model-prompt.js";
import { overHttp } from "../over-http.js";
import type { Provider } from "../provider.js";
import { plainChat } from "./plain-chat.js";

/** Chat Completions, as many servers speak it. Only what all of them take is sent. */
export function openaiCompatible(config: CompatibleConfig): Provider {
  const { baseURL, apiKey, headers, includeUsage = true } = config;
  const dialect = { ...oneSystem, returnsThinking: () => config.returnThinking ?? false };
  const key = apiKey ? { apiKey } : {};
  const settings = { name: "openaiCompatible", baseURL, headers: { ...headers }, includeUsage, ...key };
  return overHttp({
    id: "openai-compatible",
    label: "The model server",
    config,
    api: {
      model: (fetch, id) => createOpenAICompatible({ ...settings, fetch }).chatModel(id),
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

/** Templates of local models take one system message, at the beginning. */
const oneSystem: Omit<Dialect, "returnsThinking"> = {
  api: "openaiCompatible",
  oneSystem: true,
  textResults: true,
};

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
