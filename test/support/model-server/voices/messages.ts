import { type Frame, named, type Reason, type SpokenUsage, type Voice } from "./voice.js";

/** Anthropic's Messages. */
export function messagesVoice(expected: SpokenUsage | undefined): Voice {
  let blocks = 0;
  let textOpen = false;
  const start = (content_block: object) =>
    named({ type: "content_block_start", index: blocks, content_block } as never);
  const delta = (given: object) =>
    named({ type: "content_block_delta", index: blocks, delta: given } as never);
  const stop = () => {
    const frame = named({ type: "content_block_stop", index: blocks } as never);
    blocks += 1;
    textOpen = false;
    return frame;
  };
  const closeText = (): Frame[] => (textOpen ? [stop()] : []);
  return {
    begin: () => [
      named({
        type: "message_start",
        message: {
          id: "msg_1",
          type: "message",
          role: "assistant",
          model: "m",
          content: [],
          ...(expected
            ? {
                usage: {
                  input_tokens: expected.input - (expected.cached_input ?? 0),
                  cache_read_input_tokens: expected.cached_input ?? 0,
                  output_tokens: 1,
                },
              }
            : {}),
        },
      } as never),
      named({ type: "ping" }),
    ],
    text: (text) => {
      const opening = textOpen ? [] : [start({ type: "text", text: "" })];
      textOpen = true;
      return [...opening, delta({ type: "text_delta", text })];
    },
    thinking: (fragments, signature) => [
      ...closeText(),
      start({ type: "thinking", thinking: "" }),
      ...fragments.map((thinking) => delta({ type: "thinking_delta", thinking })),
      ...(signature ? [delta({ type: "signature_delta", signature })] : []),
      stop(),
    ],
    toolCall: ({ id, name, fragments }) => [
      ...closeText(),
      start({ type: "tool_use", id, name, input: {} }),
      ...fragments.map((partial_json) => delta({ type: "input_json_delta", partial_json })),
      stop(),
    ],
    end: (reason, usage) => [
      ...closeText(),
      named({
        type: "message_delta",
        delta: { stop_reason: reasons[reason], stop_sequence: null },
        ...(usage ? { usage: { output_tokens: usage.output } } : {}),
      } as never),
      named({ type: "message_stop" }),
    ],
    error: (error) => [named({ type: "error", error } as never)],
  };
}

const reasons: Record<Reason, string> = {
  stop: "end_turn",
  length: "max_tokens",
  tool_calls: "tool_use",
  content_filter: "refusal",
  other: "something_new",
};
