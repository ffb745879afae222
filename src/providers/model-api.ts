import type { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { JsonObject, Wire } from "./http/wire.js";
import type { GenerateRequest } from "./provider.js";

/** What tells one model API from another. Each is a file in `apis/`, loaded when it is first used. */
export interface ModelApi {
  /** A model that asks through this `fetch` and no other. */
  model(fetch: ModelFetch, id: string): Model;
  /** The request in the words that all four libraries share. */
  call(request: GenerateRequest): ModelCall;
  wire(): Wire;
  /** Writes a request in the very bytes of the API's own code, in less time. Without it, that code writes all of them. */
  write?(request: GenerateRequest): Promise<WrittenRequest>;
  /** One for each attempt. Without it, all answers are read by the API's own code. */
  plain?(): PlainReader;
}

/** What is handed to a `fetch`. */
export interface WrittenRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array<ArrayBuffer>;
}

/**
 * Reads an answer that is nothing but words by itself: what the API's own code puts around each event takes longer than
 * anything else before a client has the first one. An event that it leaves alone goes to that code, with all that follow.
 */
export interface PlainReader {
  /** The words of an event, which may be none. Undefined: it is not plain. */
  read(event: JsonObject): string | undefined;
  /** What the API's own code would say at the end; undefined where no reason was given. */
  end(): Extract<ModelPart, { type: "finish" }> | undefined;
}

export type Model = ReturnType<ReturnType<typeof createOpenAICompatible>["chatModel"]>;
export type ModelCall = Parameters<Model["doStream"]>[0];
export type ModelPrompt = ModelCall["prompt"];
export type ModelPart =
  Awaited<ReturnType<Model["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;
export type ModelFetch = typeof globalThis.fetch;
