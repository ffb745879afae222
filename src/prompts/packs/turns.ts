import { Turns } from "../../base/index.js";
import { promptPacks, type Store } from "../../store/index.js";

export interface PackKey {
  readonly workspace_id: string;
  readonly pack: string;
}

/**
 * Whose turn it is to change a pack, and which packs may have an apply that waits: a run that ends asks the store only
 * about those.
 */
export class PackTurns {
  readonly #store: Store;
  readonly #turns = new Turns();
  readonly #waiting = new Map<string, PackKey>();
  readonly #stop: () => void;
  #looked: Promise<void> | undefined;

  constructor(store: Store) {
    this.#store = store;
    // Another gateway may have left something that waits.
    this.#stop = store.onForget(() => {
      this.#looked = undefined;
    });
  }

  /** One at a time per workspace and pack. */
  run<T>(key: PackKey, work: () => Promise<T>): Promise<T> {
    return this.#turns.run(nameOf(key), work);
  }

  /** Said before it is written: a run that ends right after the commit must not find nothing waiting. */
  mayWait(key: PackKey): void {
    this.#waiting.set(nameOf(key), key);
  }

  waitsNoMore(key: PackKey): void {
    this.#waiting.delete(nameOf(key));
  }

  async waiting(): Promise<PackKey[]> {
    this.#looked ??= this.#look();
    await this.#looked;
    return [...this.#waiting.values()];
  }

  close(): void {
    this.#stop();
  }

  async #look(): Promise<void> {
    try {
      for (const key of await this.#store.read(promptPacks.packsThatWait)) this.mayWait(key);
    } catch (error) {
      this.#looked = undefined;
      throw error;
    }
  }
}

function nameOf({ workspace_id, pack }: PackKey): string {
  return `${workspace_id}/${pack}`;
}
