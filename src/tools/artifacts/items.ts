import { Lru } from "../../base/index.js";
import { artifacts, type Store } from "../../store/index.js";

/** A list, note or view as prompts name it. */
export interface ArtifactItem {
  readonly type: string;
  readonly id: string;
  readonly name: string;
}

/** Names kept in memory, of all workspaces. */
const CACHE_NAMES = 100_000;

interface Known {
  readonly generation: string;
  readonly items: readonly ArtifactItem[];
}

/**
 * What there is in a workspace, remembered until something of it changes. An entry is filed under the workspace's
 * generation as it was before the read, so a change in between leaves it behind rather than letting it be served stale.
 */
export class ArtifactItems {
  readonly #store: Store;
  readonly #known = new Lru<string, Known>(CACHE_NAMES);
  readonly #generations = new Map<string, number>();
  readonly #stop: (() => void)[];
  #epoch = 0;

  constructor(store: Store) {
    this.#store = store;
    this.#stop = [
      store.onForget(() => this.#epoch++),
      store.onCommit(({ notes }) => {
        for (const { workspace_id, method } of notes) {
          if (method === "artifact/changed") this.#changed(workspace_id);
        }
      }),
    ];
  }

  /** By id. How many there can be is bounded where they are made. */
  async of(workspace_id: string): Promise<readonly ArtifactItem[]> {
    if (!this.#store.exclusive()) return this.#read(workspace_id);
    const generation = `${this.#epoch} ${this.#generations.get(workspace_id) ?? 0}`;
    const known = this.#known.get(workspace_id);
    if (known?.generation === generation) return known.items;
    const items = await this.#read(workspace_id);
    this.#known.set(workspace_id, { generation, items }, items.length + 1);
    return items;
  }

  close(): void {
    for (const stop of this.#stop) stop();
  }

  #changed(workspace_id: string): void {
    this.#generations.set(workspace_id, (this.#generations.get(workspace_id) ?? 0) + 1);
    this.#known.delete(workspace_id);
  }

  async #read(workspace_id: string): Promise<readonly ArtifactItem[]> {
    const rows = await this.#store.read(() => artifacts.artifactNames({ workspace_id }));
    return rows
      .map(({ kind, id, name }) => ({ type: kind, id, name }))
      .sort((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)));
  }
}
