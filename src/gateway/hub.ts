import { notifications as log, type Note, type Store } from "../store/index.js";
import type { LiveNote } from "../threads/index.js";
import type { Log } from "./log.js";

/** Someone who hears of a workspace. */
export interface Listener {
  hear(note: Note, text: string, origin: unknown): void;
  /** Something that has no place among the durable ones. */
  hearLive(text: string): void;
}

/** Few enough that a page of the largest documents is no burden on the memory. */
const REPLAY_PAGE = 25;

/** Tells every listener of a workspace what was committed there, in order. A message is made once, however many hear it. */
export class Hub {
  readonly #store: Store;
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #threads = new Map<string, Set<Listener>>();
  readonly #latest = new Map<string, number>();
  readonly #stop: () => void;

  constructor(store: Store, logger: Log) {
    this.#store = store;
    this.#stop = store.onCommit(({ notes, origin }) => {
      for (const note of notes) this.#tell(note, origin, logger);
    });
  }

  add(workspace_id: string, listener: Listener): void {
    const set = this.#listeners.get(workspace_id);
    if (set) set.add(listener);
    else this.#listeners.set(workspace_id, new Set([listener]));
  }

  remove(workspace_id: string, listener: Listener): void {
    const set = this.#listeners.get(workspace_id);
    set?.delete(listener);
    if (set?.size === 0) this.#listeners.delete(workspace_id);
  }

  /** From now on a listener hears what happens live in a thread. */
  addThread(thread: string, listener: Listener): void {
    const set = this.#threads.get(thread);
    if (set) set.add(listener);
    else this.#threads.set(thread, new Set([listener]));
  }

  removeThread(thread: string, listener: Listener): void {
    const set = this.#threads.get(thread);
    set?.delete(listener);
    if (set?.size === 0) this.#threads.delete(thread);
  }

  /** Tells whoever listens now; nobody can ask for it later. */
  tellLive({ workspace_id, thread_id, method, params }: LiveNote): void {
    const listeners =
      thread_id === undefined
        ? this.#listeners.get(workspace_id)
        : this.#threads.get(threadName(workspace_id, thread_id));
    if (!listeners) return;
    const text = notificationText({ method, params: JSON.stringify(params) });
    for (const listener of listeners) listener.hearLive(text);
  }

  /** The number of the last notification told of; 0 when there was none since the start. */
  latest(workspace_id: string): number {
    return this.#latest.get(workspace_id) ?? 0;
  }

  /** A page of what was told after a number, from the durable log. */
  async missed(workspace_id: string, after: number): Promise<{ notes: Note[]; last: boolean }> {
    const notes = await this.#store.read(() => log.notificationsAfter(workspace_id, after, REPLAY_PAGE));
    return { notes, last: notes.length < REPLAY_PAGE };
  }

  close(): void {
    this.#stop();
    this.#listeners.clear();
  }

  #tell(note: Note, origin: unknown, logger: Log): void {
    this.#latest.set(note.workspace_id, note.seq);
    const listeners = this.#listeners.get(note.workspace_id);
    if (!listeners) return;
    const text = notificationText(note);
    for (const listener of listeners) {
      try {
        listener.hear(note, text, origin);
      } catch (error) {
        // The change is durable: a listener that fails is no reason to keep it from the others, or to fail its writer.
        logger.error({ err: error, seq: note.seq }, "a notification could not be sent");
      }
    }
  }
}

/** Two workspaces may have a thread of one id. */
export function threadName(workspace_id: string, thread_id: string): string {
  return `${workspace_id}/${thread_id}`;
}

export function notificationText({ method, params }: Pick<Note, "method" | "params">): string {
  return `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${params}}`;
}
