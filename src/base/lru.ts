/** A map that forgets what was used longest ago once the sum of the entries' weights passes its budget. */
export class Lru<K, V> {
  readonly #entries = new Map<K, { value: V; weight: number }>();
  readonly #budget: number;
  readonly #forget: (value: V) => void;
  #weight = 0;

  constructor(budget: number, forget: (value: V) => void = () => {}) {
    this.#budget = budget;
    this.#forget = forget;
  }

  get(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key: K, value: V, weight = 1): void {
    this.delete(key);
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const [oldest] of this.#entries) {
      if (this.#weight <= this.#budget) break;
      this.delete(oldest);
    }
  }

  delete(key: K): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#weight -= entry.weight;
    this.#forget(entry.value);
  }

  clear(): void {
    for (const key of [...this.#entries.keys()]) this.delete(key);
  }
}
