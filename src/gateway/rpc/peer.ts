import type { RateLimit } from "../limits.js";

/** Whoever is at the other end of a message: a connection that lives on, or a single HTTP request. */
export interface Peer {
  /** The name given in `initialize`; stands as the actor on what it changes. */
  client: string | undefined;
  readonly rate: RateLimit;
  /** Requests under way. */
  inFlight: number;
  /** From now on this peer hears of the workspace. False: it did already, or can't be told anything. */
  follow(workspace_id: string): boolean;
  unfollow(workspace_id: string): boolean;
  /** Undefined for a peer that can't be told anything. */
  readonly subscriptions: Subscriptions | undefined;
}

export interface Subscriptions {
  /** Replays what came after `after_seq`, once the exchange is answered, and goes on live. */
  replay(workspace_id: string, after_seq: number, exchange: Exchange): void;
  followThread(thread_id: string): void;
  unfollowThread(thread_id: string): boolean;
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
