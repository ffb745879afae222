import type { Frame, Voice } from "./voice.js";

/** Chat Completions. */
export function chatVoice(): Voice {
  let calls = 0;
  const chunk = (delta: object, finish_reason: string | null = null): Frame => ({
    data: {
      id: "chatcmpl-1",
      object: "chat.completion.chunk",
      created: 1,
      model: "m",
      choices: [{ index: 0, delta, finish_reason }],
    },
  });
  return {
    begin: () => [chunk({ role: "assistant", content: "" })],
    text: (content) => [chunk({ content })],
    thinking: (fragments) => fragments.map((reasoning_content) => chunk({ reasoning_content })),
    toolCall: ({ id, name, fragments }) => {
      const index = calls;
      calls += 1;
      const part = (more: object) => chunk({ tool_calls: [{ index, ...more }] });
      return [
        part({ id, type: "function", function: { name, arguments: "" } }),
        ...fragments.map((text) => part({ function: { arguments: text } })),
      ];
    },
    end: (reason, usage) => [
      chunk({}, reason === "other" ? "something_new" : reason),
      ...(usage
        ? [
            {
              data: {
                id: "chatcmpl-1",
                object: "chat.completion.chunk",
                created: 1,
                model: "m",
                choices: [],
                usage: {
                  prompt_tokens: usage.input,
                  completion_tokens: usage.output,
                  prompt_tokens_details: { cached_tokens: usage.cached_input ?? 0 },
                  completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
                },
              },
            },
          ]
        : []),
      { data: "[DONE]" },
    ],
    error: ({ type, message }) => [{ data: { error: { type, message, code: null } } }],
  };
}
