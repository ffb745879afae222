/**
 * A value that may hold secrets. No way of writing an object down gets at it (JSON, a log, an inspector, a copy): who wants
 * it has to open it, where a reader of the code sees that.
 */
export class Sealed<T> {
  readonly #value: T;

  constructor(value: T) {
    this.#value = value;
  }

  open(): T {
    return this.#value;
  }

  toJSON(): string {
    return "[sealed]";
  }
}
