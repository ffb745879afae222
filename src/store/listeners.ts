import type { Commit } from "./store.js";

type Listener = (commit: Commit) => void;

/** Those who hear of every commit. */
export class CommitListeners {
  readonly #listeners = new Set<Listener>();

  add(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** What is told is durable already: a listener that throws must not make its writer believe otherwise. */
  tell(commit: Commit): void {
    if (commit.notes.length === 0) return;
    for (const listener of this.#listeners) {
      try {
        listener(commit);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }
}
