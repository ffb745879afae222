import type { CallMethod, InsideDeps } from "../inside/caller.js";
import { runEnd } from "../inside/run-end.js";
import { answerOf, usageOf } from "./answer-of.js";
import type { Begun } from "./begin.js";
import { type ApiError, apiErrorOf, apiErrorOfRun, errorBody } from "./errors.js";
import type { LiveText } from "./live-text.js";

/** Before any proxy or client takes the silence of an agent at work, or of one that waits for an approval, for its end. */
const KEEP_ALIVE_MS = 10_000;

interface Streaming {
  readonly call: CallMethod;
  readonly model: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly includeUsage: boolean;
  readonly live: LiveText;
  readonly gone: AbortSignal;
  /** Called when it is over. */
  readonly leave: () => void;
}

/** The answer as it is written, as server-sent events. */
export function answerStream(deps: InsideDeps, begun: Begun, streaming: Streaming): Response {
  const leaving = new AbortController();
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const gone = AbortSignal.any([streaming.gone, leaving.signal]);
        void new Events(deps, controller, leaving).send(begun, { ...streaming, gone });
      },
      cancel: () => leaving.abort(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  );
  const headers = {
    ...streaming.headers,
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
  };
  return new Response(body, { headers });
}

const utf8 = new TextEncoder();

class Events {
  readonly #deps: InsideDeps;
  readonly #controller: ReadableStreamDefaultController<Uint8Array>;
  readonly #leaving: AbortController;
  #closed = false;

  constructor(
    deps: InsideDeps,
    controller: ReadableStreamDefaultController<Uint8Array>,
    leaving: AbortController,
  ) {
    this.#deps = deps;
    this.#controller = controller;
    this.#leaving = leaving;
  }

  async send({ run }: Begun, streaming: Streaming): Promise<void> {
    const { call, live, gone } = streaming;
    const keepingAlive = setInterval(() => this.#write(": at work\n\n"), KEEP_ALIVE_MS);
    try {
      this.#delta(streaming, run, { role: "assistant", content: "" });
      live.follow(run.id, (kind, text) =>
        this.#delta(streaming, run, kind === "text" ? { content: text } : { reasoning_content: text }),
      );
      const row = await runEnd(this.#deps.domain, run.id, gone);
      if (row) await this.#end(run.id, streaming);
      else await call("run/cancel", { run_id: run.id });
    } catch (error) {
      this.#fail(apiErrorOf(error, this.#deps.log));
    } finally {
      clearInterval(keepingAlive);
      live.stop();
      this.#close();
      streaming.leave();
    }
  }

  async #end(run_id: string, streaming: Streaming): Promise<void> {
    const { call, live, includeUsage } = streaming;
    const { run } = await call("run/get", { run_id });
    if (run.status !== "completed") return this.#fail(apiErrorOfRun(run));
    const { text, finish } = await answerOf(call, run);
    // An agent that tells nothing while it works has said it all in the end.
    const rest = text.startsWith(live.said) ? text.slice(live.said.length) : "";
    if (rest !== "") this.#delta(streaming, run, { content: rest });
    this.#delta(streaming, run, {}, finish);
    if (includeUsage) this.#event({ ...chunkOf(streaming, run), choices: [], usage: usageOf(run.usage) });
    this.#write("data: [DONE]\n\n");
  }

  #delta(streaming: Streaming, run: Begun["run"], delta: object, finish: string | null = null): void {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }];
    this.#event({ ...chunkOf(streaming, run), choices, ...(streaming.includeUsage && { usage: null }) });
  }

  #fail(error: ApiError): void {
    this.#event(errorBody(error));
  }

  #event(value: object): void {
    this.#write(`data: ${JSON.stringify(value)}\n\n`);
  }

  /**
   * Whoever does not read what it asked for is left: what waits for it must not fill the memory. It never throws: the run
   * itself tells what it says, and would fail of it.
   */
  #write(text: string): void {
    if (this.#closed || this.#leaving.signal.aborted) return;
    this.#controller.enqueue(utf8.encode(text));
    const waiting = -(this.#controller.desiredSize ?? 0);
    if (waiting > this.#deps.limits.sendQueueBytes) this.#leaving.abort();
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    try {
      this.#controller.close();
    } catch {
      // The client has closed it.
    }
  }
}

function chunkOf({ model }: Pick<Streaming, "model">, run: Begun["run"]) {
  return { id: `chatcmpl-${run.id}`, object: "chat.completion.chunk", created: run.created_at, model };
}
