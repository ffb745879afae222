import type { Commit, Store } from "./store.js";

type Note = Commit["notes"][number];

/**
 * Tells what was read of a workspace before a change from what is read after it. Whatever is remembered is filed under the
 * generation as it was before the read: a change in between leaves it behind rather than letting it be served stale.
 */
export class Generations {
  readonly #of = new Map<string, number>();
  readonly #stop: readonly (() => void)[];
  #epoch = 0;

  /** A commit with a note that is looked for begins the next one of its workspace; whatever else may have written, of all. */
  constructor(store: Store, begins: (note: Note) => boolean) {
    this.#stop = [
      store.onForget(() => this.#epoch++),
      store.onCommit(({ notes }) => {
        for (const note of notes) if (begins(note)) this.#next(note.workspace_id);
      }),
    ];
  }

  of(workspace_id: string): string {
    return `${this.#epoch} ${workspace_id} ${this.#of.get(workspace_id) ?? 0}`;
  }

  close(): void {
    for (const stop of this.#stop) stop();
  }

  #next(workspace_id: string): void {
    this.#of.set(workspace_id, (this.#of.get(workspace_id) ?? 0) + 1);
  }
}
