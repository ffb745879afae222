import { Lru } from "../base/index.js";
import { readBlob, readPrompt, type Size, sizeOf } from "../prompts/index.js";
import type { PromptMessage } from "../providers/index.js";
import type { Store } from "../store/index.js";

export interface PromptText extends Size {
  readonly messages: readonly PromptMessage[];
  readonly bytes: Uint8Array;
}

const CACHED_BYTES = 16 * 1024 * 1024;
/** A Buffer of a short text is a slice of 8 KB that it shares: keeping one of them would keep them all. */
const encoder = new TextEncoder();

/** What blobs of prompts hold. They never change, so what was read and checked once stays true. */
export class PromptTexts {
  readonly #store: Store;
  readonly #known = new Lru<string, PromptText>(CACHED_BYTES);

  constructor(store: Store) {
    this.#store = store;
  }

  remember(ref: string, messages: readonly PromptMessage[], text: string): void {
    if (this.#known.get(ref)) return;
    const bytes = encoder.encode(text);
    this.#known.set(ref, { messages, bytes, ...sizeOf(messages) }, weightOf(bytes));
  }

  /** Each of the blobs; one that is missing, damaged or holds no message is an error. */
  async load(refs: readonly string[]): Promise<ReadonlyMap<string, PromptText>> {
    const found = new Map<string, PromptText>();
    for (const ref of refs) {
      const known = this.#known.get(ref) ?? (await this.#read(ref));
      found.set(ref, known);
    }
    return found;
  }

  async #read(ref: string): Promise<PromptText> {
    const { messages, bytes } = await this.#store.read(function* () {
      return { messages: yield* readPrompt(ref), bytes: yield* readBlob(ref) };
    });
    const text = { messages, bytes, ...sizeOf(messages) };
    this.#known.set(ref, text, weightOf(bytes));
    return text;
  }
}

/** They are kept twice, as messages and as bytes. */
function weightOf({ length }: Uint8Array): number {
  return 2 * length + 400;
}

/** Values that were kept as JSON under their hash. */
export class RecordedValues {
  readonly #store: Store;
  readonly #known = new Lru<string, unknown>(CACHED_BYTES);

  constructor(store: Store) {
    this.#store = store;
  }

  async load<T>(ref: string): Promise<T> {
    const known = this.#known.get(ref);
    if (known !== undefined) return known as T;
    const bytes = await this.#store.read(() => readBlob(ref));
    const value = JSON.parse(Buffer.from(bytes).toString()) as T;
    this.#known.set(ref, value, bytes.length + 200);
    return value;
  }

  remember(ref: string, value: unknown, text: string): void {
    if (this.#known.get(ref) === undefined) this.#known.set(ref, value, text.length + 200);
  }
}
