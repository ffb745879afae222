import { createGoogleGenerativeAI } from "@ai-sdk/google";
import type { HttpConfig } from "../config.js";
import { isObject, type Reading, serverWords, type Wire } from "../http/wire.js";
import { type Dialect, modelCall } from "../model-prompt.js";
import { overHttp } from "../over-http.js";
import type { GenerateRequest, Provider } from "../provider.js";

/** Google's Gemini API. Its prompt cache needs no asking: it goes by the prefix. */
export function google(config: HttpConfig): Provider {
  const { baseURL, apiKey = "", headers } = config;
  const settings = { baseURL, apiKey, headers: { ...headers } };
  return overHttp({
    id: "google",
    label: "Google",
    config,
    api: {
      model: (fetch, id) => createGoogleGenerativeAI({ ...settings, fetch })(id),
      call: (request) => ({ ...modelCall(request, dialect), providerOptions: { google: options(request) } }),
      wire: geminiWire,
    },
  });
}

const dialect: Dialect = {
  api: "google",
  oneSystem: true,
  returnsThinking: (data) => typeof data?.thoughtSignature === "string",
};

const budgets = {
  none: 0,
  minimal: 512,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
} as const;
const levels = {
  none: "minimal",
  minimal: "minimal",
  low: "low",
  medium: "medium",
  high: "high",
  xhigh: "high",
  max: "high",
} as const;

function options({ model, params }: GenerateRequest) {
  const effort = params?.reasoning_effort;
  if (/gemini-2\.5/.test(model)) {
    return {
      thinkingConfig: { includeThoughts: true, ...(effort ? { thinkingBudget: budgets[effort] } : {}) },
    };
  }
  if (/gemini-(?:[3-9]|\d{2})/.test(model)) {
    return {
      thinkingConfig: { includeThoughts: true, ...(effort ? { thinkingLevel: levels[effort] } : {}) },
    };
  }
  return {};
}

function geminiWire(): Wire {
  let settled = false;
  return {
    event: (event): Reading => {
      if (event.error) return { error: serverWords(event.error) };
      const candidates = Array.isArray(event.candidates) ? event.candidates : [];
      const [first] = candidates;
      const feedback = isObject(event.promptFeedback) ? event.promptFeedback : {};
      if (feedback.blockReason || (isObject(first) && first.finishReason)) settled = true;
      const reading: Reading = settled ? { settled } : {};
      if (!isObject(first) || first.continuationToken === undefined) return reading;
      // With the token, the library would go on with a second request that nobody has seen.
      const { continuationToken: _, ...rest } = first;
      return { ...reading, instead: { ...event, candidates: [rest] } };
    },
  };
}
