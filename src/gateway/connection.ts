import type { Note } from "../store/index.js";
import { type Hub, type Listener, notificationText } from "./hub.js";
import { type Limits, RateLimit } from "./limits.js";
import type { Log } from "./log.js";
import type { Metrics } from "./metrics.js";
import { type DispatchDeps, dispatch } from "./rpc/dispatch.js";
import { gatewayError, knownError } from "./rpc/errors.js";
import { Exchange, type Peer, type Subscriptions } from "./rpc/peer.js";

/** The way to the other end of a connection. */
export interface Sink {
  /** Calls back when the text has left the process. */
  send(text: string, sent: () => void): void;
  /** Resolves when most of what was sent has left the process. */
  drained(): Promise<void>;
  close(code: number, reason: string): void;
}

export interface ConnectionDeps extends DispatchDeps {
  readonly hub: Hub;
  readonly limits: Limits;
  readonly log: Log;
  readonly metrics: Metrics;
}

export const CLOSE_GOING_AWAY = 1001;
/** "Try again later": the client fell behind; it can resume from its last `seq`. */
export const CLOSE_TOO_SLOW = 1013;

/** A workspace as this connection follows it. While `replaying`, notes come from the log and live ones are left alone. */
interface Followed {
  replaying: boolean;
  last: number;
}

interface Queued {
  readonly text: string;
  readonly after: Exchange | undefined;
}

/** A client that stays connected, over whatever transport: its requests, its subscriptions, its send queue. */
export class Connection implements Peer, Listener, Subscriptions {
  client: string | undefined;
  inFlight = 0;
  readonly rate: RateLimit;
  readonly subscriptions = this;
  readonly #deps: ConnectionDeps;
  readonly #sink: Sink;
  readonly #followed = new Map<string, Followed>();
  readonly #threads = new Set<string>();
  readonly #open = new Set<Promise<void>>();
  #queue: Queued[] = [];
  /** Of notifications only: a large answer must not make its reader look slow. */
  #unsentBytes = 0;
  #closed = false;

  constructor(deps: ConnectionDeps, sink: Sink) {
    this.#deps = deps;
    this.#sink = sink;
    this.rate = new RateLimit(deps.limits);
    deps.metrics.connections++;
  }

  /** A message came in. */
  receive(text: string): void {
    const work = this.#answer(text);
    this.#open.add(work);
    void work.finally(() => this.#open.delete(work));
  }

  /** Resolves when every message that came in has been answered. */
  async idle(): Promise<void> {
    while (this.#open.size > 0) await Promise.all(this.#open);
  }

  /** Answers a message that was too large to be read. */
  refuseTooLarge(): void {
    const limit = this.#deps.limits.messageBytes;
    const error = gatewayError({ kind: "request.too_large", limit }, `A message may have ${limit} bytes.`);
    this.#send(JSON.stringify({ jsonrpc: "2.0", id: null, error: knownError(error) }));
  }

  close(code: number, reason: string): void {
    if (this.#closed) return;
    this.closed();
    this.#sink.close(code, reason);
  }

  /** The other end is gone. */
  closed(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#queue = [];
    this.#deps.metrics.connections--;
    for (const workspace_id of this.#followed.keys()) this.#deps.hub.remove(workspace_id, this);
    this.#followed.clear();
  }

  follow(workspace_id: string): boolean {
    if (this.#closed || this.#followed.has(workspace_id)) return false;
    const limit = this.#deps.limits.subscriptions;
    if (this.#followed.size >= limit) {
      const failure = { kind: "request.too_many_subscriptions", limit } as const;
      throw gatewayError(
        failure,
        `A connection may follow ${limit} workspaces. Unsubscribe from some first.`,
      );
    }
    this.#followed.set(workspace_id, { replaying: false, last: 0 });
    this.#deps.hub.add(workspace_id, this);
    return true;
  }

  unfollow(workspace_id: string): boolean {
    this.#deps.hub.remove(workspace_id, this);
    return this.#followed.delete(workspace_id);
  }

  followThread(thread_id: string): void {
    this.#threads.add(thread_id);
  }

  unfollowThread(thread_id: string): boolean {
    return this.#threads.delete(thread_id);
  }

  hear(note: Note, text: string, origin: unknown): void {
    const followed = this.#followed.get(note.workspace_id);
    if (!followed || followed.replaying || note.seq <= followed.last) return;
    followed.last = note.seq;
    this.#notify(text, origin instanceof Exchange && origin.sender === this ? origin : undefined);
  }

  replay(workspace_id: string, after_seq: number, exchange: Exchange): void {
    const followed = this.#followed.get(workspace_id);
    if (!followed) return;
    followed.replaying = true;
    followed.last = after_seq;
    exchange.onAnswered(() => {
      this.#replay(workspace_id, followed).catch((error) => {
        this.#deps.log.error({ err: error }, "a replay failed");
        this.close(CLOSE_TOO_SLOW, "replay failed: resume from your last seq");
      });
    });
  }

  async #replay(workspace_id: string, followed: Followed): Promise<void> {
    while (!this.#closed && this.#followed.get(workspace_id) === followed) {
      const { notes, last } = await this.#deps.hub.missed(workspace_id, followed.last);
      for (const note of notes) {
        followed.last = note.seq;
        this.#notify(notificationText(note), undefined);
      }
      // Nothing can be committed between this look and going live: both happen in one turn of the event loop.
      if (last && this.#deps.hub.latest(workspace_id) <= followed.last) {
        followed.replaying = false;
        return;
      }
      await this.#sink.drained();
    }
  }

  async #answer(text: string): Promise<void> {
    const exchange = new Exchange(this);
    try {
      const answer = await dispatch(this.#deps, text, this, exchange);
      if (answer !== undefined) this.#send(answer);
    } finally {
      exchange.settle();
      this.#flush();
    }
  }

  #notify(text: string, origin: Exchange | undefined): void {
    if (this.#closed) return;
    const { limits, metrics, log } = this.#deps;
    if (this.#unsentBytes > limits.sendQueueBytes) {
      metrics.dropped++;
      log.warn({ client: this.client }, "a connection was too slow and was dropped");
      this.close(CLOSE_TOO_SLOW, "too slow: reconnect and resume from your last seq");
      return;
    }
    metrics.notifications++;
    this.#unsentBytes += text.length;
    this.#queue.push({ text, after: origin });
    this.#flush();
  }

  /** Sends what is queued, in order, up to the first notification whose cause is not answered yet. */
  #flush(): void {
    let count = 0;
    for (const { text, after } of this.#queue) {
      if (after && !after.answered) break;
      this.#send(text, () => {
        this.#unsentBytes -= text.length;
      });
      count++;
    }
    if (count > 0) this.#queue.splice(0, count);
  }

  #send(text: string, sent = () => {}): void {
    if (!this.#closed) this.#sink.send(text, sent);
  }
}
