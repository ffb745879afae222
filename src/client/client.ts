import type {
  MethodName,
  NotificationName,
  NotificationParams,
  Params,
  Result,
  RpcError,
} from "../protocol/index.js";
import { CallError, NoAnswerError } from "./errors.js";
import { SequenceProgress } from "./progress.js";
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
  readonly settle: (answer: { result: unknown } | { error: Error }) => void;
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
  readonly #resync = new Set<(workspace_id: string) => void>();
  readonly #states = new Set<(state: ClientState) => void>();
  readonly #progress = new SequenceProgress();
  readonly #resuming = new Set<string>();
  #transport: Transport | undefined;
  #state: ClientState = "connecting";
  #attempt = 0;
  #nextId = 1;
  #retry: ReturnType<typeof setTimeout> | undefined;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.#connect();
  }

  get state(): ClientState {
    return this.#state;
  }

  /** Makes a call. While the connection is down it waits for the next one, up to its timeout. */
  call<M extends MethodName>(method: M, params: Params<M>, options: CallOptions = {}): Promise<Result<M>> {
    const { workspace_id } = params as { workspace_id?: string };
    return this.#request(method, params, options).then((result) => {
      if (workspace_id !== undefined) this.#noteProgress(method, workspace_id, result as { seq?: number });
      return result as Result<M>;
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
    this.#resync.add(listener);
    return () => this.#resync.delete(listener);
  }

  onState(listener: (state: ClientState) => void): () => void {
    this.#states.add(listener);
    return () => this.#states.delete(listener);
  }

  close(): void {
    this.#setState("closed");
    clearTimeout(this.#retry);
    this.#transport?.close();
    this.#failAll(() => new NoAnswerError("closed", "The client was closed."));
  }

  #request(method: string, params: unknown, { signal, timeoutMs }: CallOptions): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#state === "closed") return reject(new NoAnswerError("closed", "The client was closed."));
      if (signal?.aborted) return reject(new NoAnswerError("cancelled", "The call was cancelled."));
      const id = this.#nextId++;
      const limit = timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
      const end = (kind: "timeout" | "cancelled", message: string) => () =>
        this.#settle(id, { error: new NoAnswerError(kind, message) });
      const timer = setTimeout(end("timeout", `No answer to ${method} within ${limit} ms.`), limit);
      const cancel = end("cancelled", "The call was cancelled.");
      signal?.addEventListener("abort", cancel);
      const settle: Waiting["settle"] = (answer) => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", cancel);
        if ("error" in answer) reject(answer.error);
        else resolve(answer.result);
      };
      this.#waiting.set(id, {
        text: JSON.stringify({ jsonrpc: "2.0", id, method, params }),
        sent: false,
        settle,
      });
      this.#sendWaiting();
    });
  }

  #noteProgress(method: MethodName, workspace_id: string, { seq }: { seq?: number }): void {
    if (method === "unsubscribe") this.#progress.forget(workspace_id);
    else if (seq !== undefined) this.#progress.read(workspace_id, seq);
    else this.#progress.track(workspace_id);
  }

  #connect(): void {
    this.#transport = this.#options.open({
      open: () => this.#opened(),
      message: (text) => this.#received(JSON.parse(text)),
      closed: (why) => this.#lost(why),
    });
  }

  /** Says who it is and asks for what it missed before anything else is sent. */
  #opened(): void {
    if (this.#options.name !== undefined) this.#send(0, "initialize", { client: this.#options.name });
    for (const workspace_id of this.#progress.workspaces()) this.#resume(workspace_id);
    this.#attempt = 0;
    this.#setState("open");
    this.#sendWaiting();
  }

  #resume(workspace_id: string): void {
    if (this.#resuming.has(workspace_id)) return;
    this.#resuming.add(workspace_id);
    const after_seq = this.#progress.resumePoint(workspace_id);
    const id = this.#nextId++;
    const settle: Waiting["settle"] = (answer) => {
      this.#resuming.delete(workspace_id);
      if ("error" in answer) {
        if (answer.error instanceof CallError) this.#progress.forget(workspace_id);
        return;
      }
      const { seq, resync } = answer.result as Result<"subscribe">;
      if (!resync) return;
      this.#progress.restart(workspace_id, seq);
      for (const listener of this.#resync) listener(workspace_id);
    };
    this.#waiting.set(id, { text: "", sent: true, settle });
    this.#send(id, "subscribe", after_seq === undefined ? { workspace_id } : { workspace_id, after_seq });
  }

  #lost(why: string): void {
    this.#transport = undefined;
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
    this.#retry = setTimeout(() => this.#connect(), wait * (0.5 + Math.random() / 2));
  }

  #received(message: Incoming): void {
    if (message.method !== undefined) {
      this.#notified(message.method, message.params as never);
    } else if (typeof message.id === "number") {
      const error = message.error && new CallError(message.error);
      this.#settle(message.id, error ? { error } : { result: message.result });
    }
  }

  #notified(
    method: string,
    params: { seq?: number; workspace_id?: string; thread?: { workspace_id: string } },
  ): void {
    const workspace_id = params.workspace_id ?? params.thread?.workspace_id;
    if (params.seq !== undefined && workspace_id !== undefined) {
      const hearing = this.#progress.hear(workspace_id, params.seq);
      if (hearing === "repeat") return;
      if (hearing === "gap") {
        // What is missing is replayed, this one included.
        this.#resume(workspace_id);
        return;
      }
    }
    for (const listener of this.#listeners.get(method) ?? []) listener(params as never);
  }

  #send(id: number, method: string, params: object): void {
    this.#transport?.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  }

  #sendWaiting(): void {
    if (this.#state !== "open") return;
    for (const waiting of this.#waiting.values()) {
      if (waiting.sent) continue;
      waiting.sent = true;
      this.#transport?.send(waiting.text);
    }
  }

  #settle(id: number, answer: Parameters<Waiting["settle"]>[0]): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    waiting?.settle(answer);
  }

  #failAll(error: () => Error): void {
    for (const id of [...this.#waiting.keys()]) this.#settle(id, { error: error() });
  }

  #setState(state: ClientState): void {
    if (this.#state === state) return;
    this.#state = state;
    for (const listener of this.#states) listener(state);
  }
}
