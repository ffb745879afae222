import type { FailedEvent, FailureCode } from "./failure.js";
import type { PromptMessage, ProviderData } from "./prompt-message.js";

/**
 * A model behind one interface. It knows nothing of threads, tools or runs: messages in, events out.
 */
export interface Provider {
  readonly id: ProviderId;
  /**
   * Asks the model. Nothing is thrown: what goes wrong is an event. Exactly one `finish`, `failed` or `aborted` is the last
   * event. An abort reaches the socket at once, whether or not anyone is reading; so does leaving the loop.
   */
  generate(
    request: GenerateRequest,
    options?: { readonly signal?: AbortSignal },
  ): AsyncIterable<ProviderEvent>;
  /**
   * The text that `generate` would send, without sending it: the same code up to the socket. The same request gives the
   * same bytes. Throws `provider.inexpressible` for a request the API has no words for.
   */
  prepare(request: GenerateRequest): Promise<SentRequest>;
  /** Loads the code of this provider, which the first request would otherwise wait for. */
  load(): Promise<void>;
}

export const providerIds = [
  "openai",
  "openai-compatible",
  "anthropic",
  "google",
  "demo",
  "scripted",
] as const;
export type ProviderId = (typeof providerIds)[number];

export interface GenerateRequest {
  readonly model: string;
  readonly messages: readonly PromptMessage[];
  readonly tools?: readonly ToolSpec[] | undefined;
  readonly params?: ModelParams | undefined;
  /** The same for requests that share a prefix: it helps a server to find its prompt cache. */
  readonly cacheKey?: string | undefined;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** A JSON Schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export const reasoningEfforts = ["none", "minimal", "low", "medium", "high", "xhigh", "max"] as const;
export type ReasoningEffort = (typeof reasoningEfforts)[number];

export interface ModelParams {
  readonly max_tokens?: number | undefined;
  readonly reasoning_effort?: ReasoningEffort | undefined;
  readonly temperature?: number | undefined;
}

export interface SentRequest {
  readonly url: string;
  /** Exactly the text handed to the socket. It never holds a key. */
  readonly body: string;
}

export const finishReasons = ["stop", "length", "tool_calls", "content_filter", "other"] as const;
export type FinishReason = (typeof finishReasons)[number];

export type ProviderEvent =
  /** Once, before anything is awaited from the server, however often the request is repeated. */
  | ({ readonly type: "request" } & SentRequest)
  | { readonly type: "text"; readonly text: string }
  /** A fragment of the block `id`. The last `providerData` of a block belongs into the part that is sent back. */
  | {
      readonly type: "thinking";
      readonly id: string;
      readonly text: string;
      readonly providerData?: ProviderData;
    }
  /** A fragment of a call's arguments, for showing; `tool_call` holds them whole. */
  | { readonly type: "tool_input"; readonly id: string; readonly name: string; readonly text: string }
  /** The arguments are the model's text: they may be no JSON, and the name may be that of no tool. */
  | {
      readonly type: "tool_call";
      readonly id: string;
      readonly name: string;
      readonly arguments: string;
      readonly providerData?: ProviderData;
    }
  /** Absent when the server does not tell. `cached_input` is a part of `input`, `reasoning` a part of `output`. */
  | {
      readonly type: "usage";
      readonly input: number;
      readonly output: number;
      readonly cached_input?: number;
      readonly reasoning?: number;
    }
  | {
      readonly type: "retrying";
      /** The attempt that failed, from 1. */
      readonly attempt: number;
      readonly after_ms: number;
      readonly code: FailureCode;
      readonly reason: string;
    }
  | { readonly type: "finish"; readonly reason: FinishReason; readonly raw?: string }
  | FailedEvent
  | { readonly type: "aborted" };
