import type { Note } from "../store/index.js";
import { type Hub, type Listener, notificationText, threadName } from "./hub.js";
import type { Limits } from "./limits.js";
import { gatewayError } from "./rpc/errors.js";
import { Exchange, type Held, type Peer, type Subscriptions } from "./rpc/peer.js";

export interface FollowingDeps {
  readonly hub: Hub;
  readonly limits: Pick<Limits, "subscriptions">;
  readonly peer: Peer;
  /** Sends a notification: at once, or after the answer to what caused it. */
  notify(text: string, after: Exchange | undefined): void;
  /** Resolves when there is room to send more. */
  room(): Promise<void>;
  /** The log no longer has what should come next, or can't be read. */
  failed(why: unknown): void;
}

/** A workspace as one connection follows it. */
interface Followed {
  /** The last one that was sent; 0 before the first. */
  last: number;
  /** While there is one, notifications come from the log, and live ones are left alone. The latest one counts. */
  replay: object | undefined;
  /** Notifications this connection caused while they came from the log: each waits for the answer to its cause. */
  readonly own: Map<number, Exchange>;
}

/** The workspaces and threads one connection hears of. */
export class Following implements Listener, Subscriptions {
  readonly #deps: FollowingDeps;
  readonly #workspaces = new Map<string, Followed>();
  readonly #threads = new Set<string>();

  constructor(deps: FollowingDeps) {
    this.#deps = deps;
  }

  follow(workspace_id: string): boolean {
    if (this.#workspaces.has(workspace_id)) return false;
    const limit = this.#deps.limits.subscriptions;
    if (this.#workspaces.size >= limit) {
      const failure = { kind: "request.too_many_subscriptions", limit } as const;
      throw gatewayError(
        failure,
        `A connection may follow ${limit} workspaces. Unsubscribe from some first.`,
      );
    }
    this.#workspaces.set(workspace_id, { last: 0, replay: undefined, own: new Map() });
    this.#deps.hub.add(workspace_id, this);
    return true;
  }

  unfollow(workspace_id: string): boolean {
    this.#deps.hub.remove(workspace_id, this);
    return this.#workspaces.delete(workspace_id);
  }

  followThread(workspace_id: string, thread_id: string): void {
    const { hub, limits } = this.#deps;
    const name = threadName(workspace_id, thread_id);
    if (!this.#threads.has(name) && this.#threads.size >= limits.subscriptions) {
      const failure = { kind: "request.too_many_subscriptions", limit: limits.subscriptions } as const;
      throw gatewayError(
        failure,
        `A connection may follow ${limits.subscriptions} threads. Unsubscribe from some first.`,
      );
    }
    this.#threads.add(name);
    hub.addThread(name, this);
  }

  unfollowThread(thread_id: string, workspace_id?: string): boolean {
    const fits = (name: string) =>
      workspace_id === undefined
        ? name.endsWith(`/${thread_id}`)
        : name === threadName(workspace_id, thread_id);
    const left = [...this.#threads].filter(fits);
    for (const name of left) {
      this.#deps.hub.removeThread(name, this);
      this.#threads.delete(name);
    }
    return left.length > 0;
  }

  tell({ method, params }: { method: string; params: object }): void {
    this.#deps.notify(notificationText({ method, params: JSON.stringify(params) }), undefined);
  }

  hold(workspace_id: string): Held {
    const added = this.follow(workspace_id);
    const followed = this.#workspaces.get(workspace_id) as Followed;
    const replay = {};
    followed.replay = replay;
    return {
      release: () => {
        if (added) this.unfollow(workspace_id);
        else if (followed.replay === replay) followed.replay = undefined;
      },
      replay: (after_seq, exchange) => {
        if (followed.replay !== replay) return;
        followed.last = after_seq;
        exchange.onAnswered(() => this.#startReplay(workspace_id, followed));
      },
    };
  }

  hear(note: Note, text: string, origin: unknown): void {
    const followed = this.#workspaces.get(note.workspace_id);
    if (!followed || note.seq <= followed.last) return;
    const cause = origin instanceof Exchange && origin.sender === this.#deps.peer ? origin : undefined;
    if (followed.replay) {
      if (cause) followed.own.set(note.seq, cause);
      return;
    }
    followed.last = note.seq;
    this.#deps.notify(text, cause);
  }

  hearLive(text: string): void {
    this.#deps.notify(text, undefined);
  }

  /** Another gateway may have written: reads on in the log from where this stands. False where that is not known. */
  catchUp(): boolean {
    const live = [...this.#workspaces].filter(([, followed]) => !followed.replay);
    if (live.some(([, followed]) => followed.last === 0)) return false;
    for (const [workspace_id, followed] of live) {
      followed.replay = {};
      this.#startReplay(workspace_id, followed);
    }
    return true;
  }

  clear(): void {
    for (const workspace_id of this.#workspaces.keys()) this.#deps.hub.remove(workspace_id, this);
    this.#workspaces.clear();
    for (const name of this.#threads) this.#deps.hub.removeThread(name, this);
    this.#threads.clear();
  }

  #startReplay(workspace_id: string, followed: Followed): void {
    const { replay } = followed;
    const going = () => this.#workspaces.get(workspace_id) === followed && followed.replay === replay;
    this.#replay(workspace_id, followed, going).catch((error) => this.#deps.failed(error));
  }

  async #replay(workspace_id: string, followed: Followed, going: () => boolean): Promise<void> {
    const { hub, notify, room } = this.#deps;
    while (going()) {
      const { notes, last } = await hub.missed(workspace_id, followed.last);
      for (const note of notes) {
        await room();
        if (!going()) return;
        // The log is cut at its old end: whoever replays slower than others write can lose its place.
        if (note.seq !== followed.last + 1) throw new Error("the log was cut before it was replayed");
        followed.last = note.seq;
        notify(notificationText(note), followed.own.get(note.seq));
      }
      // Nothing can be committed between this look and going live: both happen in one turn of the event loop.
      if (last && going() && hub.latest(workspace_id) <= followed.last) {
        followed.replay = undefined;
        followed.own.clear();
        return;
      }
    }
  }
}
