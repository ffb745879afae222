import type { RateLimit } from "../limits.js";

/** Whoever is at the other end of a message: a connection that lives on, or a single HTTP request. */
export interface Peer {
  /** The name given in `initialize`; stands as the actor on what it changes. */
  client: string | undefined;
  readonly rate: RateLimit;
  /** Requests under way. */
  inFlight: number;
  /** Fires when the other end is gone: nobody hears what comes of what it asked. */
  readonly gone: AbortSignal;
  /** Undefined for a peer that can't be told anything. */
  readonly subscriptions: Subscriptions | undefined;
  /** It came in with a token of this thread: whatever it calls, that thread's agent calls. */
  readonly bound?: BoundThread | undefined;
}

/** The one thread that a peer acts for. */
export interface BoundThread {
  readonly workspace_id: string;
  readonly thread_id: string;
  /** Fires when its token is revoked: nothing more is begun for it, and nobody waits for what is under way. */
  readonly signal: AbortSignal;
  /** A program at work, which waits until somebody has allowed what it calls. */
  readonly waits?: true | undefined;
}

export interface Subscriptions {
  /** From now on this peer hears of the workspace. False: it did already. */
  follow(workspace_id: string): boolean;
  unfollow(workspace_id: string): boolean;
  /** Follows the workspace but keeps its notifications back until it is said where to begin. */
  hold(workspace_id: string): Held;
  /** From now on this peer hears what happens live in a thread. */
  followThread(workspace_id: string, thread_id: string): void;
  unfollowThread(thread_id: string, workspace_id?: string): boolean;
  /** Sends a notification that has no place among the durable ones. */
  tell(note: { readonly method: string; readonly params: object }): void;
}

export interface Held {
  /** Once the exchange is answered, sends what came after a number, and goes on live: nothing twice, nothing left out. */
  replay(after_seq: number, exchange: Exchange): void;
  /** As if it had not been held. */
  release(): void;
}

/** One message and its answer. Notifications that it causes reach its sender only after the answer. */
export class Exchange {
  answered = false;
  readonly sender: Peer;
  readonly #waiting: (() => void)[] = [];

  constructor(sender: Peer) {
    this.sender = sender;
  }

  /** Calls back when the answer is on its way. */
  onAnswered(callback: () => void): void {
    if (this.answered) callback();
    else this.#waiting.push(callback);
  }

  settle(): void {
    this.answered = true;
    for (const callback of this.#waiting.splice(0)) callback();
  }
}
