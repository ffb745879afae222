import { Lru } from "../base/index.js";
import type { HttpConfig } from "./config.js";
import { providerError } from "./errors.js";
import { type AttemptFailure, failedEvent } from "./failure.js";
import { type RequestSent, sentRequest } from "./http/connect.js";
import { Exchange, type SoundEvent } from "./http/exchange.js";
import { type Redact, redactor } from "./http/redact.js";
import { waitBefore } from "./http/retry.js";
import { ModelAnswer } from "./model-answer.js";
import type { Model, ModelApi, ModelFetch, ModelPart, PlainReader } from "./model-api.js";
import { pause } from "./pause.js";
import type { GenerateRequest, Provider, ProviderEvent, ProviderId, SentRequest } from "./provider.js";

export interface HttpProvider {
  readonly id: ProviderId;
  /** How people call the server. */
  readonly label: string;
  readonly config: HttpConfig;
  readonly api: ModelApi;
}

/** A provider that asks a model API over HTTP. */
export function overHttp({ id, label, config, api }: HttpProvider): Provider {
  const deps: Deps = {
    id,
    config,
    api,
    place: `${label} (${new URL(config.baseURL).host})`,
    redact: redactor([config.apiKey, ...Object.values(config.headers)]),
  };
  return {
    id,
    generate: (request, { signal, after } = {}) => ask({ ...deps, request, signal, after }),
    prepare: (request) => capture(request, deps),
    load: async () => {},
  };
}

interface Deps {
  readonly id: ProviderId;
  readonly config: HttpConfig;
  readonly api: ModelApi;
  readonly place: string;
  readonly redact: Redact;
}

interface Asking extends Deps {
  readonly request: GenerateRequest;
  readonly signal: AbortSignal | undefined;
  readonly after: Promise<unknown> | undefined;
}

/** Attempts until one says something, ends well, or can't be helped. After the first token there is no other attempt. */
async function* ask(asking: Asking): AsyncGenerator<ProviderEvent, void> {
  const { signal, config } = asking;
  for (let attempt = 1; !signal?.aborted; attempt += 1) {
    const end = yield* oneAttempt(asking, attempt);
    if (end.type === "aborted") break;
    if (end.type === "finish") return yield end;
    if (!end.failure.again || attempt > config.retry.retries) return yield failedEvent(end.failure);
    const after_ms = waitBefore(end.failure, attempt, config.retry);
    const { code, words: reason } = end.failure;
    yield { type: "retrying", attempt, after_ms, code, reason };
    if (!(await pause(after_ms, signal))) break;
  }
  yield { type: "aborted" };
}

type AttemptEnd =
  | Extract<ProviderEvent, { type: "finish" | "aborted" }>
  | { readonly type: "failure"; readonly failure: AttemptFailure };

async function* oneAttempt(
  { api, request, signal, after, config, place, redact }: Asking,
  attempt: number,
): AsyncGenerator<ProviderEvent, AttemptEnd> {
  const { timeouts } = config;
  const plain = api.plain?.();
  const exchange = new Exchange({
    place,
    redact,
    signal,
    after,
    timeouts,
    wire: api.wire(),
    plain: plain !== undefined,
  });
  const answer = new ModelAnswer();
  try {
    const asked = start(api, request, exchange.fetch as ModelFetch);
    const sent = await Promise.race([exchange.sent, asked.then(() => exchange.sent)]);
    if (attempt === 1) yield { type: "request", ...sent };
    const whole = plain !== undefined && (yield* plainEvents({ asked, exchange, answer, plain }));
    if (!whole) yield* events(await asked, answer, exchange);
  } catch (error) {
    // What kept it from being sent is nothing the server or the request is to blame for.
    await after;
    exchange.fail(exchange.wasSent ? unreadable(place) : inexpressible(error, place));
  } finally {
    exchange.close();
  }
  // When it is broken off, the API's code may end the answer by itself: that is no end the server has told.
  if (signal?.aborted && !(answer.finish && exchange.complete)) return { type: "aborted" };
  const failure = exchange.failure ?? answer.emptiness(place);
  if (failure) return { type: "failure", failure: { ...failure, again: failure.again && !exchange.begun } };
  return answer.finish ?? { type: "failure", failure: unreadable(place) };
}

/** By the signal its call is made with: a model is costly to make, so it is made once, and each call goes its own way. */
const ways = new WeakMap<AbortSignal, ModelFetch>();

const goItsWay: ModelFetch = (url, init) => {
  const way = init?.signal ? ways.get(init.signal) : undefined;
  if (!way) throw new Error("a call without a way to its server");
  return way(url, init);
};

const models = new WeakMap<ModelApi, Lru<string, Model>>();
const KEPT_MODELS = 64;

function modelOf(api: ModelApi, id: string): Model {
  const known = models.get(api) ?? new Lru<string, Model>(KEPT_MODELS);
  models.set(api, known);
  const model = known.get(id) ?? api.model(goItsWay, id);
  known.set(id, model);
  return model;
}

/** Where a request is written without the API's code, that code is asked only when it has something to read. */
async function start(api: ModelApi, request: GenerateRequest, fetch: ModelFetch) {
  if (!api.write) return streamOf(api, request, fetch);
  const { url, ...init } = await api.write(request);
  const response = await fetch(url, init);
  return streamOf(api, { ...request, messages: [] }, async () => response);
}

async function streamOf(api: ModelApi, request: GenerateRequest, fetch: ModelFetch) {
  const { signal: abortSignal } = new AbortController();
  ways.set(abortSignal, fetch);
  const { stream } = await modelOf(api, request.model).doStream({ ...api.call(request), abortSignal });
  return stream;
}

interface Plain {
  readonly asked: Promise<unknown>;
  readonly exchange: Exchange;
  readonly answer: ModelAnswer;
  readonly plain: PlainReader;
}

/** As long as an answer is nothing but words, they are read here. True: it was so to its end. */
async function* plainEvents(given: Plain): AsyncGenerator<ProviderEvent, boolean> {
  const { asked, exchange, answer, plain } = given;
  await Promise.race([exchange.accepted, asked]);
  // What the API's code has to know of the events before those that it reads: the reason for the end, and the figures.
  const kept: SoundEvent[] = [];
  while (!exchange.aborted && !exchange.over) {
    const sound = await exchange.next();
    const left = yield* plainWords(given, sound, kept);
    if (left.length === 0) continue;
    exchange.handOver([...kept, ...left]);
    return false;
  }
  const end = plain.end();
  const figures = end && answer.read(end);
  if (figures) yield figures;
  return true;
}

/** What came together is told together. Answers the events that were not read, from the first that is not plain on. */
function* plainWords(
  { exchange, answer, plain }: Plain,
  sound: readonly SoundEvent[],
  kept: SoundEvent[],
): Generator<ProviderEvent, readonly SoundEvent[]> {
  let delta = "";
  let read = 0;
  for (const one of sound) {
    const words = plain.read(one.event);
    if (words === undefined) break;
    if (words === "") kept.push(one);
    delta += words;
    read += 1;
  }
  const said = answer.read({ type: "text-delta", id: "", delta });
  if (said) {
    exchange.tokenArrived();
    yield said;
  }
  return sound.slice(read);
}

async function* events(
  stream: ReadableStream<ModelPart>,
  answer: ModelAnswer,
  exchange: Exchange,
): AsyncGenerator<ProviderEvent> {
  const reader = stream.getReader();
  try {
    while (!exchange.aborted) {
      const { done, value } = await reader.read();
      if (done) return;
      if (value.type === "error") throw value.error;
      const event = answer.read(value);
      // When an answer breaks off, the API's code closes what is open: such a call is not whole.
      if (event === undefined || (exchange.failure && event.type === "tool_call")) continue;
      exchange.tokenArrived();
      yield event;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** The same way up to the socket, and no further. */
async function capture(request: GenerateRequest, { api, id, place, redact }: Deps): Promise<SentRequest> {
  let sent: RequestSent | undefined;
  const fetch = async (...request: Parameters<ModelFetch>): Promise<never> => {
    sent = sentRequest(...request);
    throw new Error("not sent");
  };
  try {
    await start(api, request, fetch);
  } catch (error) {
    if (!sent) {
      const words = redact(inexpressible(error, place).words);
      throw providerError(
        { kind: "provider.inexpressible", provider: id, problem: words },
        `${words}.`,
        error,
      );
    }
  }
  const { url, body } = sent as RequestSent;
  return { url, body: typeof body === "string" ? body : Buffer.from(body).toString() };
}

function inexpressible(error: unknown, place: string): AttemptFailure {
  const why = error instanceof Error ? error.message : String(error);
  return {
    code: "provider.bad_request",
    words: `${place} has no words for this request: ${why}`,
    again: false,
  };
}

function unreadable(place: string): AttemptFailure {
  return {
    code: "provider.broken_stream",
    words: `${place} sent an event that does not fit its API`,
    again: false,
  };
}
