import type { Timeouts } from "../config.js";
import { type AttemptFailure, codeOf, mayPass, type ServerWords } from "../failure.js";
import { Chunks } from "./chunks.js";
import {
  type Answer,
  connectionFailure,
  type RequestSent,
  type RequestToSend,
  requestHeaders,
  responseHeaders,
  send,
  sentRequest,
} from "./connect.js";
import { EventReader, EventTooLarge } from "./event-reader.js";
import type { Redact } from "./redact.js";
import { askedWait, type ReadHeaders } from "./retry.js";
import { bodyWords, isObject, type JsonObject, type Wire } from "./wire.js";

export interface ExchangeDeps {
  /** How people know the server. */
  readonly place: string;
  readonly timeouts: Timeouts;
  readonly redact: Redact;
  readonly wire: Wire;
  readonly signal?: AbortSignal | undefined;
  /** Nothing is sent before this has resolved. */
  readonly after?: Promise<unknown> | undefined;
  /** Events are read with `next` first, and given to the API's code only from a point on. */
  readonly plain?: boolean | undefined;
}

/** An event that may be read; its text is the server's own where it was not put in place of another. */
export interface SoundEvent {
  readonly event: JsonObject;
  readonly text: string | undefined;
}

/** More is no event of a model: the largest hold a whole answer. */
export const LARGEST_EVENT = 16 * 1024 * 1024;
const LONGEST_ERROR_BODY = 64 * 1024;
const ERROR_BODY_MS = 5_000;
const DRAIN_MS = 1_000;

/**
 * One request and its answer. Its `fetch` is handed to an API's code, which therefore reads only events that are sound.
 * When the answer breaks off, the events end instead of failing, so that nothing that had arrived is lost; `failure` then
 * says why.
 */
export class Exchange {
  failure: AttemptFailure | undefined;
  wasSent = false;
  /** Resolves with the request as soon as it is on its way. */
  readonly sent: Promise<RequestSent>;
  #onSent: (sent: RequestSent) => void = () => {};
  /** Resolves when an answer has begun that is a stream of events. */
  readonly accepted: Promise<void>;
  #onAccepted = () => {};
  /** Resolves with what goes to the API's code before the events that are still to come. */
  readonly #handedOver: Promise<readonly SoundEvent[]>;
  #onHandedOver: (events: readonly SoundEvent[]) => void = () => {};
  #source: Source | undefined;
  readonly #deps: ExchangeDeps;
  readonly #stop = new AbortController();
  readonly #abort = () => this.#stop.abort();
  #firstToken: NodeJS.Timeout | undefined;
  #silence: NodeJS.Timeout | undefined;
  #tokens = false;
  #waiting = false;
  #settled = false;
  #over = false;
  #bytes = 0;

  constructor(deps: ExchangeDeps) {
    this.#deps = deps;
    this.sent = new Promise((resolve) => {
      this.#onSent = resolve;
    });
    this.accepted = new Promise((resolve) => {
      this.#onAccepted = resolve;
    });
    this.#handedOver = new Promise((resolve) => {
      this.#onHandedOver = resolve;
    });
    if (!deps.plain) this.#onHandedOver([]);
    if (deps.signal?.aborted) this.#abort();
    deps.signal?.addEventListener("abort", this.#abort, { once: true });
  }

  readonly fetch = async (url: unknown, init?: RequestToSend): Promise<Response> => {
    const sent = sentRequest(url, init);
    if (this.#deps.after) await this.#deps.after;
    this.wasSent = true;
    this.#onSent(sent);
    const { firstTokenMs, connectMs } = this.#deps.timeouts;
    this.#firstToken = setTimeout(() => this.#late("first_token", firstTokenMs), firstTokenMs);
    const headers = requestHeaders(init?.headers as Record<string, string>);
    const answer = await send(sent, { headers, signal: this.#stop.signal, connectMs }).catch((error) => {
      if (this.#stop.signal.aborted) throw error;
      throw this.fail(connectionFailure(error, this.#deps.place));
    });
    answer.body.on("error", () => {});
    await this.#accept(answer);
    this.#source = { chunks: new Chunks(answer.body), reader: new EventReader(LARGEST_EVENT) };
    this.#onAccepted();
    return new Response(this.#stream(this.#source, await this.#handedOver), {
      headers: { "content-type": "text/event-stream" },
    });
  };

  get aborted(): boolean {
    return this.#deps.signal?.aborted ?? false;
  }

  /** Nothing more is read of the answer, however it ended. */
  get over(): boolean {
    return this.#over;
  }

  /** A token has arrived: nothing may be asked again. */
  get begun(): boolean {
    return this.#tokens;
  }

  /** The server has said that its answer is whole. */
  get complete(): boolean {
    return this.#settled;
  }

  /** Ends the exchange; only the first reason counts. Answers what may be thrown for it. */
  fail(failure: AttemptFailure): Error {
    this.failure ??= { ...failure, words: this.#deps.redact(failure.words) };
    if (!this.#over) this.#stop.abort();
    this.#over = true;
    return new Error(this.failure.words);
  }

  /** From now on only silence is too long. */
  tokenArrived(): void {
    if (this.#tokens) return;
    this.#tokens = true;
    clearTimeout(this.#firstToken);
    if (this.#waiting) this.#watch();
  }

  close(): void {
    clearTimeout(this.#firstToken);
    clearTimeout(this.#silence);
    this.#deps.signal?.removeEventListener("abort", this.#abort);
    if (!this.#over) this.#stop.abort();
  }

  async #accept({ statusCode, headers: raw, body }: Answer): Promise<void> {
    const headers = responseHeaders(raw);
    const { place } = this.#deps;
    if (statusCode >= 300 && statusCode < 400) {
      const words = `${place} sends requests elsewhere (status ${statusCode})`;
      throw this.fail({ code: "provider.bad_request", words, status: statusCode, again: false });
    }
    if (statusCode >= 400) {
      const words = bodyWords(await beginningOf(body), statusCode);
      throw this.fail({ ...this.#said(words, headers), waitMs: askedWait(headers, Date.now()) });
    }
    const type = headers.get("content-type");
    const encoding = headers.get("content-encoding") ?? "identity";
    if (encoding !== "identity") throw this.fail(this.#noStream(statusCode, encoding));
    if (type === null || /^text\/event-stream\b/i.test(type)) return;
    const said = /json/i.test(type) ? jsonError(await beginningOf(body)) : "";
    throw this.fail(this.#noStream(statusCode, type, said));
  }

  #noStream(status: number, what: string, said = ""): AttemptFailure {
    const words = `${this.#deps.place} answers with ${cut(what, 100)} instead of a stream of events`;
    return {
      code: "provider.content_type",
      words: said === "" ? words : `${words}: ${this.#told(said)}`,
      status,
      again: false,
    };
  }

  #said(words: ServerWords, headers?: ReadHeaders): AttemptFailure {
    const { status, message } = words;
    const code = codeOf(words);
    const told = this.#told(message);
    const what = status === undefined ? "reports a failure" : `answers with status ${status}`;
    return {
      code,
      words: told === "" ? `${this.#deps.place} ${what}` : `${this.#deps.place} ${what}: ${told}`,
      status,
      again: mayPass(code, status) && headers?.get("x-should-retry") !== "false",
    };
  }

  /** The server's own words, without secrets, in one line. */
  #told(message: string): string {
    const line = this.#deps.redact(message).replaceAll(/[\s\p{Cc}]+/gu, " ");
    return cut(line.trim(), 500).replace(/\.$/, "");
  }

  /** The next sound events, for whoever reads them without the API's code. None only when it is over. */
  async next(): Promise<readonly SoundEvent[]> {
    if (!this.#source || this.#over) return [];
    const events = await this.#more(this.#source);
    this.#rest(this.#source);
    return events;
  }

  /** Gives these events, and whatever follows, to the API's code. */
  handOver(events: readonly SoundEvent[]): void {
    this.#onHandedOver(events);
  }

  #stream(source: Source, first: readonly SoundEvent[]): ReadableStream<Uint8Array> {
    const encoder = new TextEncoder();
    const start = (out: ReadableStreamDefaultController<Uint8Array>) => {
      if (first.length > 0) out.enqueue(encoder.encode(textOf(first)));
      if (this.#over) out.close();
    };
    const pull = async (out: ReadableStreamDefaultController<Uint8Array>) => {
      const events = await this.#more(source);
      if (events.length > 0) out.enqueue(encoder.encode(textOf(events)));
      if (this.#over) out.close();
      this.#rest(source);
    };
    return new ReadableStream({ start, pull, cancel: () => this.close() }, { highWaterMark: 0 });
  }

  /** What comes after the end is read, not cut off: the connection is wanted for the next turn. */
  #rest({ chunks }: Source): void {
    if (this.#over && this.failure === undefined) chunks.drain(DRAIN_MS);
  }

  /** None only when it is over. */
  async #more({ chunks, reader }: Source): Promise<readonly SoundEvent[]> {
    this.#waiting = true;
    this.#watch();
    try {
      for (;;) {
        const chunk = await chunks.next();
        this.#bytes += chunk?.byteLength ?? 0;
        const events = chunk ? reader.push(chunk) : unfinished(reader);
        if (events.length > 0) this.#silence?.refresh();
        const sound = this.#take(events);
        if (!chunk && !this.#over) this.#ended();
        if (sound.length > 0 || this.#over) return sound;
      }
    } catch (error) {
      this.#broke(error);
      return [];
    } finally {
      this.#waiting = false;
      clearTimeout(this.#silence);
    }
  }

  #take(events: readonly string[]): SoundEvent[] {
    const sound: SoundEvent[] = [];
    for (const data of events) {
      if (this.#over) break;
      const event = data === "[DONE]" ? this.#done() : this.#read(data);
      if (event !== undefined) sound.push(event);
    }
    return sound;
  }

  #read(data: string): SoundEvent | undefined {
    const event = parsed(data);
    if (event === undefined) {
      const words = `${this.#deps.place} sent an event that cannot be read`;
      this.fail({ code: "provider.broken_stream", words, again: false });
      return undefined;
    }
    const { skip, instead, settled, last, error } = this.#deps.wire.event(event);
    if (error) {
      this.fail(this.#said(error));
      return undefined;
    }
    if (settled || last) this.#settled = true;
    if (last) this.#over = true;
    if (skip) return undefined;
    return instead ? { event: instead, text: undefined } : { event, text: data };
  }

  #done(): SoundEvent | undefined {
    const closing = this.#deps.wire.done?.();
    this.#settled = true;
    this.#over = true;
    return closing && { event: closing, text: undefined };
  }

  #ended(): void {
    const { place } = this.#deps;
    if (this.#settled) this.#over = true;
    else if (this.#bytes === 0)
      this.fail({ code: "provider.empty_answer", words: `${place} sent an empty answer`, again: false });
    else this.fail({ code: "provider.broken_stream", words: `${place} broke off its answer`, again: true });
  }

  #broke(error: unknown): void {
    const { place } = this.#deps;
    if (error instanceof EventTooLarge) {
      const words = `${place} sent an event of more than ${LARGEST_EVENT / 1024 / 1024} MB`;
      this.fail({ code: "provider.broken_stream", words, again: false });
    } else if (!this.#stop.signal.aborted) this.#ended();
    this.#over = true;
  }

  #watch(): void {
    const { silenceMs } = this.#deps.timeouts;
    clearTimeout(this.#silence);
    if (this.#tokens) this.#silence = setTimeout(() => this.#late("silence", silenceMs), silenceMs);
  }

  #late(phase: "first_token" | "silence", ms: number): void {
    if (this.#over) return;
    // A complete answer whose connection is merely left open is an answer.
    if (this.#settled) {
      this.#abort();
      return;
    }
    const what = phase === "silence" ? "fell silent" : "did not begin to answer";
    const words = `${this.#deps.place} ${what} within ${ms / 1000} s`;
    this.fail({ code: "provider.timeout", phase, words, again: false });
  }
}

interface Source {
  readonly chunks: Chunks;
  readonly reader: EventReader;
}

function textOf(events: readonly SoundEvent[]): string {
  return events
    .map(({ event, text = JSON.stringify(event) }) => `data: ${text.replaceAll("\n", " ")}\n\n`)
    .join("");
}

function parsed(data: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What a server says that reports a failure with a status of success. */
function jsonError(text: string): string {
  return parsed(text) ? bodyWords(text, 200).message : "";
}

/** A last event without its empty line counts when it is whole. */
function unfinished(reader: EventReader): string[] {
  const data = reader.end();
  return data !== undefined && (data === "[DONE]" || parsed(data)) ? [data] : [];
}

async function beginningOf(body: Answer["body"]): Promise<string> {
  const timer = setTimeout(() => body.destroy(), ERROR_BODY_MS);
  const decoder = new TextDecoder();
  let text = "";
  try {
    for await (const chunk of body) {
      text += decoder.decode(chunk, { stream: true });
      if (text.length > LONGEST_ERROR_BODY) break;
    }
  } catch {
    // What had arrived says enough.
  } finally {
    clearTimeout(timer);
  }
  return text;
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length).toWellFormed()}…`;
}
