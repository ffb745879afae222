import { afterAll, beforeAll, beforeEach, describe, expect } from "vitest";
import {
  createProvider,
  type GenerateRequest,
  type Provider,
  type ProviderEvent,
} from "../../src/providers/index.js";
import type { Protocol } from "../support/model-server/protocols.js";
import type { ServerTurn } from "../support/model-server/script.js";
import { type ModelServer, startModelServer } from "../support/model-server/server.js";

export const KEY = "sk-test-0123456789-secret";

/** The waits of tests: short enough to be met on purpose, long enough never to be met by accident. */
const patience = {
  timeouts: { connectMs: 20_000, firstTokenMs: 20_000, silenceMs: 20_000 },
  retry: { retries: 2, backoffMs: 1, longestWaitMs: 50 },
};

export interface Api {
  readonly id: "openai" | "openai-compatible" | "anthropic" | "google";
  readonly protocol: Protocol;
  readonly model: string;
  readonly keyHeader: string;
}

const apis: readonly Api[] = [
  { id: "openai", protocol: "responses", model: "gpt-5", keyHeader: "authorization" },
  { id: "openai-compatible", protocol: "chat", model: "qwen3", keyHeader: "authorization" },
  { id: "anthropic", protocol: "messages", model: "claude-sonnet-4-5", keyHeader: "x-api-key" },
  { id: "google", protocol: "gemini", model: "gemini-3-pro", keyHeader: "x-goog-api-key" },
];

export interface Suite extends Api {
  /** The server of this suite; each test gives it a script. */
  server(): ModelServer;
  provider(config?: object): Provider;
  /** Plays the turns and collects what one request gives. */
  ask(turns: readonly ServerTurn[], given?: Given): Promise<ProviderEvent[]>;
}

interface Given {
  readonly request?: Partial<GenerateRequest>;
  readonly config?: object;
  readonly signal?: AbortSignal;
}

/** Runs a suite on the four model APIs, over real HTTP. */
export function onEachApi(name: string, suite: (api: Suite) => void): void {
  for (const api of apis) {
    describe(`${name} [${api.id}]`, () => {
      let server: ModelServer;
      beforeAll(async () => {
        server = await startModelServer();
      });
      beforeEach(() => {
        server.forget();
      });
      afterAll(() => server.close());
      const provider = (config: object = {}) => {
        const baseURL = `${server.url}/v1`;
        return createProvider({ provider: api.id, config: { baseURL, apiKey: KEY, ...patience, ...config } });
      };
      suite({
        ...api,
        server: () => server,
        provider,
        ask: (turns, { request, config, signal } = {}) => {
          server.play(turns);
          return collect(provider(config), { ...hello(api.model), ...request }, signal);
        },
      });
    });
  }
}

export function hello(model = "m"): GenerateRequest {
  return { model, messages: [{ role: "user", content: "Hello" }] };
}

/** Everything a stream gives, after checking what holds for all of them: one end, at the end. */
export async function collect(
  provider: Provider,
  request: GenerateRequest,
  signal?: AbortSignal,
): Promise<ProviderEvent[]> {
  const events: ProviderEvent[] = [];
  for await (const event of provider.generate(request, signal ? { signal } : {})) events.push(event);
  const ends = events.filter(({ type }) => type === "finish" || type === "failed" || type === "aborted");
  expect(ends).toEqual([events.at(-1)]);
  return events;
}

export function ofType<T extends ProviderEvent["type"]>(events: readonly ProviderEvent[], type: T) {
  return events.filter((event) => event.type === type) as Extract<ProviderEvent, { type: T }>[];
}

export const textIn = (events: readonly ProviderEvent[]) =>
  ofType(events, "text")
    .map(({ text }) => text)
    .join("");

/** The end of a stream that failed. */
export function failure(events: readonly ProviderEvent[]) {
  const end = events.at(-1);
  if (end?.type !== "failed") throw new Error(`it did not fail: ${JSON.stringify(events)}`);
  return end;
}

/** A turn of these steps. */
export const turn = (...steps: ServerTurn["steps"]): ServerTurn => ({ steps });

export type RequestEvent = Extract<ProviderEvent, { type: "request" }>;

/** The same, with a body that was written in bytes as the text it is. */
export function asText(event: RequestEvent): RequestEvent {
  return { ...event, body: Buffer.from(event.body).toString() };
}
