import type { Message } from "../atsf/index.js";
import type { PromptMessage } from "../providers/index.js";
import type { EffectReceipt } from "./fold/events.js";
import type { Stretch } from "./program/stretch.js";

type Block = Message["content"][number];
type ToolCall = NonNullable<Message["toolCalls"]>[number];

/** Why an answer ended, in the words of the thread format. */
const STOP_REASONS: Readonly<Record<string, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  content_filter: "refusal",
};

/** What a run's agent has said and done since its last message in the log: it becomes the next one. */
export class Transcript {
  #content: Block[] = [];
  #calls: ToolCall[] = [];
  #finish: string | undefined;
  #tokens = { input: 0, output: 0 };
  #counted = false;
  /** How long the thoughts among its blocks took, by their places. */
  #thoughts: Record<number, number> = {};

  /** What the model answered in one step. */
  answered(
    step: number,
    message: PromptMessage,
    { finish, usage, thoughts_ms = [] }: Pick<EffectReceipt, "finish" | "usage" | "thoughts_ms">,
  ): void {
    const left = [...thoughts_ms];
    for (const block of blocksOf(message)) {
      const ms = block.type === "thinking" ? left.shift() : undefined;
      if (ms !== undefined) this.#thoughts[this.#content.length] = ms;
      this.#content.push(block);
    }
    for (const { id, name, arguments: input } of message.tool_calls ?? []) {
      this.#content.push({ type: "tool_call_ref", toolCallId: id, step });
      this.#calls.push({ toolCallId: id, name, status: "pending", input });
    }
    this.counted({ ...(finish !== undefined && { finish }), ...(usage && { usage }) });
  }

  /** How a step ended, and what it took. */
  counted({ finish, usage }: Pick<EffectReceipt, "finish" | "usage">): void {
    this.#finish = finish;
    if (!usage) return;
    this.#counted = true;
    this.#tokens = { input: this.#tokens.input + usage.input, output: this.#tokens.output + usage.output };
  }

  /** What a program said and did by itself. */
  worked(step: number, { answer, results, thoughts_ms }: Stretch): void {
    this.answered(step, answer, { ...(thoughts_ms && { thoughts_ms }) });
    for (const { message, call, diffs = [] } of results) {
      const [diff, ...more] = diffs;
      const { status, duration_ms } = call;
      this.toolAnswered(call.call_id, message, { status, duration_ms, diff: diff && { ...diff } });
      // The format has room for one; the others stand beside it.
      if (more.length > 0) this.#extend(call.call_id, { diffs: diffs.map((one) => ({ ...one })) });
    }
  }

  #extend(call_id: string, more: object): void {
    this.#calls = this.#calls.map((call) => (call.toolCallId === call_id ? { ...call, ...more } : call));
  }

  toolAnswered(
    call_id: string,
    message: PromptMessage,
    answered: {
      readonly status: EffectReceipt["status"];
      readonly duration_ms?: number | undefined;
      readonly diff?: { path: string; oldText: string; newText: string } | undefined;
    },
  ): void {
    this.#calls = this.#calls.map((call) =>
      call.toolCallId === call_id && call.status === "pending"
        ? {
            ...call,
            status: answered.status === "ok" ? "completed" : "failed",
            output: typeof message.content === "string" ? message.content : "",
            ...(answered.duration_ms !== undefined && { duration: answered.duration_ms }),
            ...(answered.diff && { diff: { ...answered.diff } }),
          }
        : call,
    );
  }

  get isEmpty(): boolean {
    return this.#content.length === 0;
  }

  /** The message for the log. Undefined when there is nothing to say. */
  message(given: {
    id: string;
    runId: string;
    at: number;
    model: string;
    stopReason?: string;
  }): Message | undefined {
    if (this.isEmpty) return undefined;
    const { id, runId, at, model } = given;
    const stopReason = given.stopReason ?? STOP_REASONS[this.#finish ?? ""] ?? this.#finish;
    const toolCalls = this.#calls.map((call) =>
      call.status === "pending" ? { ...call, status: "failed" as const } : call,
    );
    return {
      id,
      role: "agent",
      timestamp: new Date(at).toISOString(),
      content: [...this.#content],
      ...(toolCalls.length > 0 && { toolCalls }),
      ...(stopReason !== undefined && { stopReason }),
      model,
      ...(this.#counted && { tokens: this.#tokens }),
      heddle: {
        runId,
        ...(Object.keys(this.#thoughts).length > 0 && { thinkingMs: { ...this.#thoughts } }),
      },
    };
  }

  /** It stands in the log: what comes now belongs to the next one. */
  clear(): void {
    this.#content = [];
    this.#calls = [];
    this.#thoughts = {};
    this.#finish = undefined;
    this.#tokens = { input: 0, output: 0 };
    this.#counted = false;
  }
}

/** Thinking and text, as they came; what a provider wants back with a thought stays with the prompt. */
function blocksOf({ content }: PromptMessage): Block[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "text", text: content }];
  return content.flatMap((part): Block[] =>
    part.type === "image" || part.text === "" ? [] : [{ type: part.type, text: part.text }],
  );
}
