import { canonicalJson } from "../base/index.js";
import { failedEvent } from "./failure.js";
import { pause } from "./pause.js";
import type { GenerateRequest, Provider, ProviderEvent, ProviderId, SentRequest } from "./provider.js";

/** What a model in this process says, step by step; a number is a pause in milliseconds, for ever included. */
export type Performance = AsyncIterable<ProviderEvent | number> | Iterable<ProviderEvent | number>;

/** A provider without a network, under the same contract: one end, an abort at any moment, nothing thrown. */
export function inProcess(id: ProviderId, perform: (request: GenerateRequest) => Performance): Provider {
  return {
    id,
    async *generate(request, { signal, after } = {}) {
      await after;
      yield* play(perform, { id, request, signal });
    },
    prepare: async (request) => sentTo(id, request),
    load: async () => {},
  };
}

interface Playing {
  readonly id: ProviderId;
  readonly request: GenerateRequest;
  readonly signal: AbortSignal | undefined;
}

async function* play(
  perform: (request: GenerateRequest) => Performance,
  { id, request, signal }: Playing,
): AsyncGenerator<ProviderEvent> {
  if (!signal?.aborted) yield { type: "request", ...sentTo(id, request) };
  for await (const step of perform(request)) {
    if (typeof step === "number") await wait(step, signal);
    if (signal?.aborted) return yield { type: "aborted" };
    if (typeof step === "number") continue;
    yield step;
    if (step.type === "finish" || step.type === "failed") return;
  }
  yield failedEvent({
    code: "provider.broken_stream",
    words: `The provider ${id} broke off its answer`,
    again: false,
  });
}

/** Nothing is sent anywhere; this is what would be, for those who show it. The same request gives the same bytes. */
function sentTo(id: ProviderId, { model, messages, tools = [], params = {} }: GenerateRequest): SentRequest {
  return { url: `heddle:${id}`, body: canonicalJson({ model, messages, tools, params }) };
}

async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  if (Number.isFinite(ms)) await pause(ms, signal);
  else while (await pause(1_000_000, signal));
}
