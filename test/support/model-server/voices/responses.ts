import { type Frame, named, type Reason, type SpokenUsage, type Voice } from "./voice.js";

/** OpenAI's Responses. */
export function responsesVoice(): Voice {
  let items = 0;
  let sequence = 0;
  let message: string | undefined;
  let said = "";
  const say = (data: { type: string }) => {
    sequence += 1;
    return named({ ...data, sequence_number: sequence } as { type: string });
  };
  const added = (item: object) => {
    const output_index = items;
    items += 1;
    return { output_index, frame: say({ type: "response.output_item.added", output_index, item } as never) };
  };
  const done = (output_index: number, item: object) =>
    say({ type: "response.output_item.done", output_index, item } as never);
  const closeMessage = (): Frame[] => {
    if (message === undefined) return [];
    const id = message;
    const content = [{ type: "output_text", text: said, annotations: [] }];
    message = undefined;
    said = "";
    return [done(items - 1, { type: "message", id, role: "assistant", status: "completed", content })];
  };
  return {
    begin: () => [
      say({ type: "response.created", response: { id: "resp_1", created_at: 1, model: "m" } } as never),
      say({ type: "response.in_progress", response: { id: "resp_1" } } as never),
    ],
    text: (delta) => {
      const opening: Frame[] = [];
      if (message === undefined) {
        message = `msg_${items}`;
        opening.push(added({ type: "message", id: message, role: "assistant", content: [] }).frame);
      }
      said += delta;
      return [
        ...opening,
        say({ type: "response.output_text.delta", item_id: message, content_index: 0, delta } as never),
      ];
    },
    thinking: (fragments, signature) => {
      const closing = closeMessage();
      const item_id = `rs_${items}`;
      const { output_index, frame } = added({
        type: "reasoning",
        id: item_id,
        summary: [],
        encrypted_content: null,
      });
      const at = { item_id, output_index, summary_index: 0 };
      return [
        ...closing,
        frame,
        say({ type: "response.reasoning_summary_part.added", ...at } as never),
        ...fragments.map((delta) =>
          say({ type: "response.reasoning_summary_text.delta", ...at, delta } as never),
        ),
        say({ type: "response.reasoning_summary_part.done", ...at } as never),
        done(output_index, {
          type: "reasoning",
          id: item_id,
          summary: [],
          encrypted_content: signature ?? null,
        }),
      ];
    },
    toolCall: ({ id: call_id, name, fragments }) => {
      const closing = closeMessage();
      const id = `fc_${items}`;
      const item = { type: "function_call", id, call_id, name };
      const { output_index, frame } = added({ ...item, arguments: "", status: "in_progress" });
      const at = { item_id: id, output_index };
      const whole = fragments.join("");
      return [
        ...closing,
        frame,
        ...fragments.map((delta) =>
          say({ type: "response.function_call_arguments.delta", ...at, delta } as never),
        ),
        say({ type: "response.function_call_arguments.done", ...at, arguments: whole } as never),
        done(output_index, { ...item, arguments: whole, status: "completed" }),
      ];
    },
    end: (reason, usage) => [...closeMessage(), say(ending(reason, usage) as never)],
    error: ({ type, message: text }) => [
      say({ type: "error", code: type, message: text, param: null } as never),
    ],
  };
}

const incomplete: Partial<Record<Reason, string>> = {
  length: "max_output_tokens",
  content_filter: "content_filter",
  other: "something_new",
};

function ending(reason: Reason, usage: SpokenUsage | undefined): object {
  const why = incomplete[reason];
  return {
    type: why ? "response.incomplete" : "response.completed",
    response: {
      id: "resp_1",
      incomplete_details: why ? { reason: why } : null,
      usage: usage
        ? {
            input_tokens: usage.input,
            input_tokens_details: { cached_tokens: usage.cached_input ?? 0 },
            output_tokens: usage.output,
            output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
            total_tokens: usage.input + usage.output,
          }
        : null,
    },
  };
}
