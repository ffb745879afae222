/** Runs what shares a key one after the other, in the order it was asked for; different keys run side by side. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>();

  /** Whether work with a key is under way. */
  taken(key: string): boolean {
    return this.#last.has(key);
  }

  /** Work with several keys waits for each of them, and whatever comes later under any of them waits for it. */
  run<T>(keys: string | readonly string[], work: () => Promise<T>): Promise<T> {
    const names = typeof keys === "string" ? [keys] : keys;
    const mine = Promise.all(names.map((key) => this.#last.get(key))).then(work);
    const settled = mine.then(
      () => {},
      () => {},
    );
    for (const key of names) this.#last.set(key, settled);
    void settled.then(() => {
      // Only the newest in line may clear the key, or a waiting one would lose its place.
      for (const key of names) if (this.#last.get(key) === settled) this.#last.delete(key);
    });
    return mine;
  }
}
