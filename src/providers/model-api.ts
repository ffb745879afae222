import type { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { Wire } from "./http/wire.js";
import type { GenerateRequest } from "./provider.js";

/** What tells one model API from another. Each is a file in `apis/`, loaded when it is first used. */
export interface ModelApi {
  /** A model that asks through this `fetch` and no other. */
  model(fetch: ModelFetch, id: string): Model;
  /** The request in the words that all four libraries share. */
  call(request: GenerateRequest): ModelCall;
  wire(): Wire;
}

export type Model = ReturnType<ReturnType<typeof createOpenAICompatible>["chatModel"]>;
export type ModelCall = Parameters<Model["doStream"]>[0];
export type ModelPrompt = ModelCall["prompt"];
export type ModelPart =
  Awaited<ReturnType<Model["doStream"]>>["stream"] extends ReadableStream<infer Part> ? Part : never;
export type ModelFetch = typeof globalThis.fetch;
