import type {
  MethodName,
  NotificationName,
  NotificationParams,
  Params,
  Result,
  RpcError,
} from "../protocol/index.js";
import { CallError, NoAnswerError } from "./errors.js";
import { type Answer, type Ask, Following, type Scope } from "./following.js";
import { tell } from "./tell.js";
import type { OpenTransport, Transport } from "./transport.js";

export interface ClientOptions {
  readonly open: OpenTransport;
  /** Stands as the actor on what this client changes. */
  readonly name?: string | undefined;
  readonly timeoutMs?: number | undefined;
  /** Whether to connect again after a loss. Default: yes. */
  readonly reconnect?: boolean | undefined;
}

export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
}

export type ClientState = "connecting" | "open" | "closed";

interface Waiting {
  readonly text: string;
  sent: boolean;
  readonly settle: (answer: Answer) => void;
}

interface Incoming {
  readonly id?: number | string | null;
  readonly result?: unknown;
  readonly error?: RpcError;
  readonly method?: string;
  readonly params?: unknown;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const BACKOFF_MS = [100, 200, 500, 1_000, 2_000, 5_000];

/**
 * A typed connection to a gateway. It reconnects by itself and asks for the notifications it missed; where the gateway
 * no longer has them, `onResync` tells which workspace to read anew.
 */
export class Client {
  readonly #options: ClientOptions;
  readonly #waiting = new Map<number, Waiting>();
  readonly #listeners = new Map<string, Set<(params: never) => void>>();
  readonly #states = new Set<(state: ClientState) => void>();
  readonly #following = new Following((...asked) => this.#ask(...asked));
  #transport: Transport | undefined;
  /** Whether the transport takes messages: before the state says so, because resuming comes first. */
  #up = false;
  #state: ClientState = "connecting";
  #attempt = 0;
  #nextId = 1;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #retryAt: number | undefined;
  #why = "it is being made";

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#connect();
  }

  get state(): ClientState {
    return this.#state;
  }

  /** Makes a call. While the connection is down it waits for the next one, up to its timeout. */
  call<M extends MethodName>(method: M, params: Params<M>, options: CallOptions = {}): Promise<Result<M>> {
    const { signal, timeoutMs = this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS } = options;
    return new Promise((resolve, reject) => {
      if (this.#state === "closed") return reject(new NoAnswerError("closed", "The client was closed."));
      if (signal?.aborted) return reject(new NoAnswerError("cancelled", "The call was cancelled."));
      const request = JSON.stringify({ method, params });
      const give = (error: Error) => this.#settle(id, { error });
      const timer = setTimeout(() => give(this.#tooLate(method, timeoutMs)), timeoutMs);
      const cancel = () => give(new NoAnswerError("cancelled", "The call was cancelled."));
      signal?.addEventListener("abort", cancel);
      const id = this.#wait(request, (answer) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
        if ("error" in answer) return reject(answer.error);
        this.#following.answered(method, params as Scope, answer.result as object);
        resolve(answer.result as Result<M>);
      });
      if (this.#state === "open") this.#sendNow(id);
    });
  }

  /** Hears every notification of a kind, in order, each once. Returns a function that stops it. */
  on<N extends NotificationName>(method: N, listener: (params: NotificationParams<N>) => void): () => void {
    const set = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, set);
    set.add(listener);
    return () => set.delete(listener);
  }

  /** Hears when notifications of a workspace were missed for good: read its state anew. */
  onResync(listener: (workspace_id: string) => void): () => void {
    return this.#following.onResync(listener);
  }

  onState(listener: (state: ClientState) => void): () => void {
    this.#states.add(listener);
    return () => this.#states.delete(listener);
  }

  /** When the next attempt to connect begins, in milliseconds since 1970; undefined: one is under way, or none is needed. */
  get retryAt(): number | undefined {
    return this.#retryAt;
  }

  /** Tries to connect at once instead of waiting for the next attempt. */
  retryNow(): void {
    if (this.#retryAt === undefined) return;
    clearTimeout(this.#retry);
    this.#connect();
  }

  close(): void {
    this.#setState("closed");
    clearTimeout(this.#retry);
    this.#up = false;
    this.#transport?.close();
    this.#failAll(() => new NoAnswerError("closed", "The client was closed."));
  }

  #connect(): void {
    this.#retryAt = undefined;
    this.#transport = this.#options.open({
      open: () => this.#opened(),
      message: (text) => this.#received(JSON.parse(text)),
      closed: (why) => this.#lost(why),
    });
  }

  /** Says who it is and asks for what it missed before anything else is sent. */
  #opened(): void {
    this.#attempt = 0;
    this.#up = true;
    if (this.#options.name !== undefined) this.#ask("initialize", { client: this.#options.name }, () => {});
    this.#following.reconnected();
    this.#setState("open");
    for (const [id, { sent }] of this.#waiting) if (!sent) this.#sendNow(id);
  }

  #lost(why: string): void {
    this.#transport = undefined;
    this.#up = false;
    this.#why = why;
    if (this.#state === "closed") return;
    for (const [id, { sent }] of this.#waiting) {
      if (sent) this.#settle(id, { error: new NoAnswerError("connection_lost", `No answer: ${why}.`) });
    }
    if (this.#options.reconnect === false) {
      this.#setState("closed");
      this.#failAll(() => new NoAnswerError("connection_lost", `Can't reach the gateway: ${why}.`));
      return;
    }
    this.#setState("connecting");
    const wait = BACKOFF_MS[Math.min(this.#attempt++, BACKOFF_MS.length - 1)] as number;
    // Spread out, so that many clients of one gateway do not come back in the same instant.
    const delay = wait * (0.5 + Math.random() / 2);
    this.#retryAt = Date.now() + delay;
    this.#retry = setTimeout(() => this.#connect(), delay);
  }

  #received(message: Incoming): void {
    if (message.method !== undefined) {
      if (!this.#following.hears(message.params as object)) return;
      tell(this.#listeners.get(message.method) ?? [], message.params as never);
    } else if (typeof message.id === "number") {
      const { error, result } = message;
      this.#settle(message.id, error ? { error: new CallError(error) } : { result });
    }
  }

  /** Sent at once over the connection there is, and lost with it. */
  #ask(...[method, params, settle]: Parameters<Ask>): void {
    if (this.#up) this.#sendNow(this.#wait(JSON.stringify({ method, params }), settle));
    else settle({ error: new NoAnswerError("connection_lost", `No answer: ${this.#why}.`) });
  }

  #wait(request: string, settle: Waiting["settle"]): number {
    const id = this.#nextId++;
    const text = `{"jsonrpc":"2.0","id":${id},${request.slice(1)}`;
    this.#waiting.set(id, { text, sent: false, settle });
    return id;
  }

  #sendNow(id: number): void {
    const waiting = this.#waiting.get(id) as Waiting;
    waiting.sent = true;
    this.#transport?.send(waiting.text);
  }

  #settle(id: number, answer: Answer): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.settle(answer);
  }

  #failAll(error: () => Error): void {
    for (const id of [...this.#waiting.keys()]) this.#settle(id, { error: error() });
  }

  #tooLate(method: string, limit: number): NoAnswerError {
    const why = this.#state === "open" ? "" : ` There is no connection: ${this.#why}.`;
    return new NoAnswerError("timeout", `No answer to ${method} within ${limit} ms.${why}`);
  }

  #setState(state: ClientState): void {
    if (this.#state === state) return;
    this.#state = state;
    tell(this.#states, state);
  }
}
