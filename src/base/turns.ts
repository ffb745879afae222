/** Runs what shares a key one after the other, in the order it was asked for; different keys run side by side. */
export class Turns {
  readonly #last = new Map<string, Promise<unknown>>();

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#last.get(key) ?? Promise.resolve();
    const mine = before.then(work, work);
    const settled = mine.then(
      () => {},
      () => {},
    );
    this.#last.set(key, settled);
    void settled.then(() => {
      // Only the newest in line may clear the key, or a waiting one would lose its place.
      if (this.#last.get(key) === settled) this.#last.delete(key);
    });
    return mine;
  }
}
