/** Choices that follow from a seed: the same seed chooses the same again. */
export class Chance {
  #state: number;

  constructor(readonly seed: string) {
    this.#state = 2166136261;
    for (const char of seed) this.#state = Math.imul(this.#state ^ (char.codePointAt(0) ?? 0), 16777619);
  }

  /** Of its own: what is chosen there does not change what is chosen here. */
  branch(name: string): Chance {
    return new Chance(`${this.seed}/${name}`);
  }

  /** At least 0, less than 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  }

  between(least: number, below: number): number {
    return least + this.next() * (below - least);
  }

  whole(below: number): number {
    return Math.floor(this.next() * below);
  }

  yes(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(from: readonly T[]): T | undefined {
    return from[this.whole(from.length)];
  }

  /** By the weights that stand beside the choices. */
  weighed<T>(from: readonly (readonly [T, number])[]): T {
    const all = from.reduce((sum, [, weight]) => sum + weight, 0);
    let left = this.next() * all;
    for (const [choice, weight] of from) {
      left -= weight;
      if (left < 0) return choice;
    }
    return (from.at(-1) as readonly [T, number])[0];
  }
}
