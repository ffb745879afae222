import type { Frame, Reason, SpokenUsage, Voice } from "./voice.js";

/** Gemini's streamGenerateContent. */
export function geminiVoice(): Voice {
  const chunk = (parts: object[], more: object = {}, usage?: SpokenUsage): Frame => ({
    data: {
      candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
      ...(usage ? { usageMetadata: figures(usage) } : {}),
      modelVersion: "m",
      responseId: "r1",
    },
  });
  return {
    begin: () => [],
    text: (text) => [chunk([{ text }])],
    thinking: (fragments, thoughtSignature) =>
      fragments.map((text, index) =>
        chunk([{ text, thought: true, ...(index === fragments.length - 1 ? { thoughtSignature } : {}) }]),
      ),
    toolCall: ({ id, name, fragments, signature }) => [
      chunk([{ functionCall: { id, name, args: given(fragments.join("")) }, thoughtSignature: signature }]),
    ],
    end: (reason, usage) => [chunk([{ text: "" }], { finishReason: reasons[reason] }, usage)],
    error: ({ type, message }) => [{ data: { error: { status: type, message } } }],
  };
}

/** This protocol has arguments as JSON, so that text which is none can only be a string. */
function given(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function figures({ input, output, cached_input, reasoning }: SpokenUsage): object {
  return {
    promptTokenCount: input,
    candidatesTokenCount: output - (reasoning ?? 0),
    cachedContentTokenCount: cached_input ?? 0,
    thoughtsTokenCount: reasoning ?? 0,
  };
}

const reasons: Record<Reason, string> = {
  stop: "STOP",
  length: "MAX_TOKENS",
  tool_calls: "STOP",
  content_filter: "SAFETY",
  other: "OTHER",
};
