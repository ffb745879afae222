import { Lru } from "../../base/index.js";
import { EMPTY_HEAD, type JournalEvent, parseEvent, readEvents, readHead } from "../../journal/index.js";
import { type RunRow, runs, type Store, type Unit } from "../../store/index.js";
import type { RunEvent } from "../fold/events.js";
import { reduce } from "../fold/reduce.js";
import { asking, IDLE, type RunsState } from "../fold/state.js";
import type { SessionKey } from "./parts.js";
import { ThreadSession } from "./session.js";

/** What is kept in memory of threads in which nothing is under way: about a thousand short ones. */
const IDLE_BYTES = 32 * 1024 * 1024;

/** The threads whose agents are asked, each loaded once. What is under way is never forgotten. */
export class Sessions {
  readonly #store: Store;
  readonly #busy = new Map<string, ThreadSession>();
  readonly #idle = new Lru<string, ThreadSession>(IDLE_BYTES);
  readonly #loading = new Map<string, Promise<ThreadSession>>();
  /** Those that someone still has: a thread with two sessions would be two minds about where its journal stands. */
  readonly #alive = new Map<string, WeakRef<ThreadSession>>();
  readonly #gone = new FinalizationRegistry<string>((name) => {
    if (!this.#alive.get(name)?.deref()) this.#alive.delete(name);
  });
  readonly #stop: () => void;
  /** Brings back what the run under way in a session had said and done; set by whoever composes. */
  takeUp: (session: ThreadSession) => Promise<void> = async () => {};
  /** The gateway is stopping: nothing new is begun. */
  closing = false;
  /** Every thread in which something is under way has its session here. */
  complete = false;

  constructor(store: Store) {
    this.#store = store;
    // Another gateway may have written: what is known of threads at rest no longer holds.
    this.#stop = store.onForget(() => {
      this.#idle.clear();
      this.#alive.clear();
    });
  }

  /** The session of a thread, loaded if need be. */
  async open(key: SessionKey): Promise<ThreadSession> {
    const name = nameOf(key);
    // One that is being taken up counts as busy already, but nobody may go on with it before it is whole.
    const underWay = this.#loading.get(name);
    if (underWay) return underWay;
    const known = this.#busy.get(name) ?? this.#idle.get(name) ?? this.#alive.get(name)?.deref();
    if (known) return known;
    const loading = this.#load(name, key);
    this.#loading.set(name, loading);
    return loading;
  }

  /** The session of a thread in which something is under way. */
  busy(key: SessionKey): ThreadSession | undefined {
    return this.#busy.get(nameOf(key));
  }

  /** Those in which something is under way. */
  get allBusy(): readonly ThreadSession[] {
    return [...this.#busy.values()];
  }

  /** Whether a delegated run may be waiting for somebody's word: most of the time none is, and nobody need be asked. */
  get delegatedMayAsk(): boolean {
    if (!this.complete) return true;
    return this.allBusy.some(
      ({ active }) => active?.origin?.kind === "delegated" && asking(active).length > 0,
    );
  }

  /** Keeps a session where it belongs: one with a run under way in mind, another as long as there is room. */
  settle(session: ThreadSession): void {
    const name = nameOf(session.key);
    if (session.active || session.driving) {
      this.#idle.delete(name);
      this.#busy.set(name, session);
    } else {
      this.#busy.delete(name);
      this.#idle.set(name, session, session.weight);
    }
  }

  /** Lets go of a session whose journal has gone on without it. */
  drop({ key }: ThreadSession): void {
    const name = nameOf(key);
    this.#busy.delete(name);
    this.#idle.delete(name);
    this.#alive.delete(name);
  }

  close(): void {
    this.#stop();
  }

  async #load(name: string, key: SessionKey): Promise<ThreadSession> {
    try {
      const session = await this.#store.read(() => loadSession(key));
      this.#alive.set(name, new WeakRef(session));
      this.#gone.register(session, name);
      this.settle(session);
      await this.takeUp(session);
      this.settle(session);
      return session;
    } finally {
      this.#loading.delete(name);
    }
  }
}

/** Folds what is unfinished; a thread at rest needs only the end of its journal. */
function* loadSession(key: SessionKey): Unit<ThreadSession> {
  const head = yield* readHead(key);
  if (head.seq === 0) return new ThreadSession(key, { head: EMPTY_HEAD, state: IDLE, rows: new Map() }, 0);
  const lastNumber = yield* runs.lastRunNumber(key);
  const unfinished = yield* runs.unfinishedRuns(key);
  const rows = new Map<string, RunRow>(unfinished.map((row) => [row.id, row]));
  const from = yield* restBefore(key, unfinished);
  const state =
    from === undefined ? IDLE : fold(key, (yield* readEvents(key, from, head.seq)).map(parseEvent));
  return new ThreadSession(key, { head, state, rows }, lastNumber);
}

/** The first event after the thread was last at rest; undefined when it is at rest now. */
export function* restBefore(
  key: SessionKey,
  unfinished: readonly Pick<RunRow, "first_seq">[],
): Unit<number | undefined> {
  if (unfinished.length === 0) return undefined;
  let from = Math.min(...unfinished.map(({ first_seq }) => first_seq));
  for (;;) {
    const earlier = yield* runs.earliestOverlap(key, from);
    if (earlier === undefined) return from;
    from = earlier;
  }
}

/** The state that events lead to from rest. What they say is what happened: a rejection means a broken journal. */
export function fold(key: SessionKey, events: readonly JournalEvent[]): RunsState {
  let state = IDLE;
  for (const event of events) {
    const reduced = reduce(state, event as unknown as RunEvent, { thread_id: key.thread_id, seq: event.seq });
    if ("rejected" in reduced) throw new Error(`event ${event.seq} of ${key.thread_id}: ${reduced.rejected}`);
    state = reduced.state;
  }
  return state;
}

function nameOf({ workspace_id, thread_id }: SessionKey): string {
  return `${workspace_id}/${thread_id}`;
}
