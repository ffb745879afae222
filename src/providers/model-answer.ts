import type { AttemptFailure } from "./failure.js";
import type { ModelPart } from "./model-api.js";
import type { ProviderData } from "./prompt-message.js";
import type { FinishReason, ProviderEvent } from "./provider.js";

/** Reads an API's parts as events. One for each attempt. */
export class ModelAnswer {
  /** The end, once it has come; a second one is nobody's concern. */
  finish: Extract<ProviderEvent, { type: "finish" }> | undefined;
  #said = false;
  #called = false;
  readonly #names = new Map<string, string>();
  readonly #thoughts = new Map<string, ProviderData>();

  /** Answers nothing for what is of no concern: sources, files, the server's own tools. */
  read(part: ModelPart): ProviderEvent | undefined {
    if (this.finish) return undefined;
    switch (part.type) {
      case "text-delta":
        return part.delta === "" ? undefined : this.#say({ type: "text", text: part.delta });
      case "reasoning-start":
      case "reasoning-delta":
      case "reasoning-end":
        return this.#think(part);
      case "tool-input-start":
        this.#names.set(part.id, part.toolName);
        return part.providerExecuted ? undefined : this.#input(part.id, "");
      case "tool-input-delta":
        return part.delta === "" ? undefined : this.#input(part.id, part.delta);
      case "tool-call":
        return part.providerExecuted ? undefined : this.#call(part);
      case "finish":
        this.finish = { type: "finish", ...this.#reason(part.finishReason) };
        return usage(part.usage);
      default:
        return undefined;
    }
  }

  /** Nothing was said, and nothing explains it. */
  emptiness(place: string): AttemptFailure | undefined {
    const { reason, raw } = this.finish ?? {};
    if (this.#said || reason === "length" || reason === "content_filter") return undefined;
    const why = raw === undefined ? "" : ` (${raw})`;
    return { code: "provider.empty_answer", words: `${place} sent an empty answer${why}`, again: false };
  }

  #say(event: ProviderEvent): ProviderEvent {
    this.#said = true;
    return event;
  }

  /** What the server wants back is complete only when the thought is. */
  #think(part: Extract<ModelPart, { type: `reasoning-${string}` }>): ProviderEvent | undefined {
    const { id, providerMetadata } = part;
    for (const [api, data] of Object.entries(providerMetadata ?? {})) {
      const known = this.#thoughts.get(id) ?? {};
      this.#thoughts.set(id, { ...known, [api]: { ...known[api], ...data } as ProviderData[string] });
    }
    const providerData = this.#thoughts.get(id);
    if (part.type === "reasoning-delta" && part.delta !== "")
      return this.#say({ type: "thinking", id, text: part.delta });
    if (part.type !== "reasoning-end" || providerData === undefined) return undefined;
    return this.#say({ type: "thinking", id, text: "", providerData });
  }

  #input(id: string, text: string): ProviderEvent {
    return this.#say({ type: "tool_input", id, name: this.#names.get(id) ?? "", text });
  }

  #call(part: Extract<ModelPart, { type: "tool-call" }>): ProviderEvent {
    this.#called = true;
    const { toolCallId: id, toolName: name, input, providerMetadata } = part;
    const providerData = providerMetadata as ProviderData | undefined;
    return this.#say({
      type: "tool_call",
      id,
      name,
      arguments: input,
      ...(providerData === undefined ? {} : { providerData }),
    });
  }

  /** Some servers say `stop` after a call. */
  #reason({ unified, raw }: { unified: string; raw?: string | undefined }): {
    reason: FinishReason;
    raw?: string;
  } {
    const known = reasons[unified] ?? "other";
    const reason = this.#called && (known === "stop" || known === "other") ? "tool_calls" : known;
    return raw === undefined ? { reason } : { reason, raw };
  }
}

const reasons: Readonly<Record<string, FinishReason>> = {
  stop: "stop",
  length: "length",
  "tool-calls": "tool_calls",
  "content-filter": "content_filter",
};

type ModelUsage = Extract<ModelPart, { type: "finish" }>["usage"];

/** A request without a single token does not exist: such figures are those of a server that counts nothing. */
function usage({ inputTokens, outputTokens }: ModelUsage): ProviderEvent | undefined {
  const { total: input = 0, cacheRead } = inputTokens;
  const { total: output = 0, reasoning } = outputTokens;
  if (input === 0 && output === 0) return undefined;
  return {
    type: "usage",
    input,
    output,
    ...(cacheRead === undefined ? {} : { cached_input: cacheRead }),
    ...(reasoning === undefined ? {} : { reasoning }),
  };
}
