import type { HeddleError } from "../base/index.js";
import type { Panels } from "../tools/index.js";
import { Following } from "./following.js";
import type { Hub } from "./hub.js";
import { type Limits, RateLimit } from "./limits.js";
import type { Log } from "./log.js";
import type { Metrics } from "./metrics.js";
import { Outbox, type Sink } from "./outbox.js";
import { type DispatchDeps, dispatch } from "./rpc/dispatch.js";
import { gatewayError, knownError } from "./rpc/errors.js";
import { type BoundThread, Exchange, type Peer } from "./rpc/peer.js";

export interface ConnectionDeps extends DispatchDeps {
  readonly hub: Hub;
  readonly limits: Limits;
  readonly log: Log;
  readonly metrics: Metrics;
  /** What windows show: nothing of it outlives the connection that told of it. */
  readonly panels: Pick<Panels, "forget">;
  /** Every connection that is open. */
  readonly connections: Set<Connection>;
}

export const CLOSE_GOING_AWAY = 1001;
/** "Policy violation": the token it came in with is not valid any more. */
export const CLOSE_NOT_ALLOWED = 1008;
/** "Try again later": it can resume from its last `seq`. */
export const CLOSE_TRY_AGAIN = 1013;

/**
 * Messages begun in one turn of the event loop and not answered in it. One: a read of the embedded store answers within
 * the turn, so that the next one is begun with its answer already in the outbox, and not while many are being made.
 */
const MAX_FRESH = 1;

/** A client that stays connected, over whatever transport: its requests, its subscriptions, what is sent to it. */
export class Connection implements Peer {
  client: string | undefined;
  inFlight = 0;
  readonly rate: RateLimit;
  /** None for a peer that acts for one thread: it would hear of the whole workspace. */
  readonly subscriptions: Following | undefined;
  readonly bound: BoundThread | undefined;
  readonly #gone = new AbortController();
  readonly gone: AbortSignal = this.#gone.signal;
  readonly #deps: ConnectionDeps;
  readonly #sink: Sink;
  readonly #outbox: Outbox;
  readonly #inbox: string[] = [];
  readonly #open = new Set<Promise<void>>();
  /** Characters of the messages that came in and are not answered yet. */
  #unanswered = 0;
  #fresh = 0;
  #turn = 0;
  #coming: NodeJS.Immediate | undefined;
  #waiting: { holds: () => boolean; resolve: () => void }[] = [];
  #closed = false;

  constructor(deps: ConnectionDeps, sink: Sink, bound?: BoundThread) {
    this.#deps = deps;
    this.#sink = sink;
    this.bound = bound;
    this.#outbox = new Outbox(sink, deps.limits.sendQueueBytes, () => this.#goOn());
    this.rate = new RateLimit(deps.limits);
    this.subscriptions = bound ? undefined : this.#follow(deps);
    deps.metrics.connections++;
    deps.connections.add(this);
  }

  /** A message came in. */
  receive(text: string): void {
    if (this.#closed) return;
    this.#inbox.push(text);
    this.#unanswered += text.length;
    this.#start();
  }

  /** Undefined when the next message may come; else resolves when it may. Whoever reads no answers asks no more. */
  ready(): Promise<void> | undefined {
    const { messageBytes } = this.#deps.limits;
    const has = () => this.#inbox.length === 0 && this.#unanswered <= messageBytes && !this.#outbox.full;
    return this.#closed || has() ? undefined : this.#until(has);
  }

  /** Resolves when every message that came in has been answered and the answers are gone. */
  idle(): Promise<void> {
    return this.#until(() => this.#inbox.length === 0 && this.#open.size === 0 && this.#outbox.empty);
  }

  /** Answers what could not even be read. */
  refuse(error: HeddleError): void {
    if (!this.#closed) {
      this.#outbox.answer(JSON.stringify({ jsonrpc: "2.0", id: null, error: knownError(error) }));
    }
  }

  close(code: number, reason: string): void {
    if (this.#closed) return;
    this.closed();
    this.#sink.close(code, reason);
  }

  /** The other end is gone: what it asked is finished, but nothing more is begun. */
  closed(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#inbox.length = 0;
    this.#deps.metrics.connections--;
    this.#deps.connections.delete(this);
    this.#deps.panels.forget(this);
    this.subscriptions?.clear();
    this.#gone.abort();
    this.#wake();
  }

  #follow({ hub, limits, log }: ConnectionDeps): Following {
    return new Following({
      hub,
      limits,
      peer: this,
      notify: (text, after) => this.#notify(text, after),
      room: () => this.#until(() => !this.#outbox.full),
      failed: (why) => {
        log.warn({ err: why, client: this.client }, "a replay could not go on");
        this.close(CLOSE_TRY_AGAIN, "replay failed: reconnect and resume from your last seq");
      },
    });
  }

  #start(): void {
    while (this.#inbox.length > 0 && this.#fresh < MAX_FRESH && !this.#outbox.full) {
      const [text, turn] = [this.#inbox.shift() as string, this.#turn];
      this.#fresh++;
      const work = this.#answer(text).finally(() => {
        if (turn === this.#turn) this.#fresh--;
        this.#open.delete(work);
        this.#unanswered -= text.length;
        this.#goOn();
      });
      this.#open.add(work);
    }
    if (this.#inbox.length > 0 && this.#fresh >= MAX_FRESH)
      this.#coming ??= setImmediate(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#coming = undefined;
    this.#turn++;
    this.#fresh = 0;
    this.#goOn();
  }

  #goOn(): void {
    this.#start();
    this.#wake();
  }

  async #answer(text: string): Promise<void> {
    const exchange = new Exchange(this);
    try {
      const answer = await dispatch(this.#deps, text, this, exchange);
      if (answer !== undefined && !this.#closed) this.#outbox.answer(answer);
    } catch (error) {
      // Whatever a message brings about, it ends with an answer: a rejection here would end the process.
      this.#deps.log.error({ err: error }, "a message could not be answered");
      this.refuse(gatewayError({ kind: "invalid_request" }, "This message could not be answered."));
    } finally {
      exchange.settle();
      if (!this.#closed) this.#outbox.flush();
    }
  }

  #notify(text: string, after: Exchange | undefined): void {
    if (this.#closed) return;
    const { metrics, log } = this.#deps;
    if (this.#outbox.notify(text, after)) {
      metrics.notifications++;
      return;
    }
    metrics.dropped++;
    log.warn({ client: this.client }, "a connection was too slow and was dropped");
    this.close(CLOSE_TRY_AGAIN, "too slow: reconnect and resume from your last seq");
  }

  /** Resolves when something holds, or the other end is gone. */
  #until(holds: () => boolean): Promise<void> {
    if (this.#closed || holds()) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push({ holds, resolve }));
  }

  #wake(): void {
    if (this.#waiting.length === 0) return;
    this.#waiting = this.#waiting.filter(({ holds, resolve }) => {
      const over = this.#closed || holds();
      if (over) resolve();
      return !over;
    });
  }
}
