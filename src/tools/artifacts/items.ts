import { Lru } from "../../base/index.js";
import { artifacts, Generations, type Store } from "../../store/index.js";

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

/** What there is in a workspace, remembered until something of it changes. */
export class ArtifactItems {
  readonly #store: Store;
  readonly #known = new Lru<string, Known>(CACHE_NAMES);
  readonly #generations: Generations;

  constructor(store: Store) {
    this.#store = store;
    this.#generations = new Generations(store, ({ method }) => method === "artifact/changed");
  }

  /** By id. How many there can be is bounded where they are made. */
  async of(workspace_id: string): Promise<readonly ArtifactItem[]> {
    if (!this.#store.exclusive()) return this.#read(workspace_id);
    const generation = this.#generations.of(workspace_id);
    const known = this.#known.get(workspace_id);
    if (known?.generation === generation) return known.items;
    const items = await this.#read(workspace_id);
    this.#known.set(workspace_id, { generation, items }, items.length + 1);
    return items;
  }

  close(): void {
    this.#generations.close();
  }

  async #read(workspace_id: string): Promise<readonly ArtifactItem[]> {
    const rows = await this.#store.read(() => artifacts.artifactNames({ workspace_id }));
    return rows
      .map(({ kind, id, name }) => ({ type: kind, id, name }))
      .sort((a, b) => (a.id < b.id ? -1 : Number(a.id > b.id)));
  }
}
