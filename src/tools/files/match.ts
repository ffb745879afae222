import { Worker } from "node:worker_threads";
import { MATCH_SOURCE } from "./match-source.js";

/** Characters shown of a line before what was found; twice as many from there on. */
const AROUND = 100;
const MOST_MEMORY_MB = 256;

export interface Pattern {
  readonly source: string;
  readonly flags: string;
  /** What a file without it can't have. */
  readonly literal?: string;
}

export interface FileMatches {
  readonly binary: boolean;
  /** One more than was asked for when there are more. */
  readonly found: readonly { readonly number: number; readonly text: string }[];
}

/** What a model is looking for, or why it can't be looked for. */
export function parsePattern(
  text: string,
  { regex, ignoreCase }: { regex: boolean; ignoreCase: boolean },
): Pattern | { readonly problem: string } {
  const more = ignoreCase ? "i" : "";
  if (!regex) {
    const source = text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
    return { source, flags: more, ...(!ignoreCase && { literal: text }) };
  }
  // Classes such as \p{L} need the flag u; with it, some of what models escape is a mistake.
  const flags = [`u${more}`, more].find((one) => compiles(text, one));
  if (flags !== undefined) return { source: text, flags };
  return { problem: "the pattern is no regular expression of JavaScript. Correct it, or leave regex out." };
}

function compiles(source: string, flags: string): boolean {
  try {
    new RegExp(source, flags);
    return true;
  } catch {
    return false;
  }
}

/**
 * Compares lines in a thread of its own: a pattern that would take years holds up nothing but that thread, which ends when the
 * signal fires.
 */
export class Matcher {
  readonly #worker: Worker;
  readonly #ended: Promise<never>;

  constructor(pattern: Pattern, signal: AbortSignal) {
    this.#worker = new Worker(MATCH_SOURCE, {
      eval: true,
      workerData: { ...pattern, around: AROUND },
      env: {},
      execArgv: [],
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB },
    });
    this.#ended = new Promise((_, reject) => {
      this.#worker.once("error", () => reject(new MatchFailure()));
      this.#worker.once("exit", () => reject(signal.aborted ? signal.reason : new MatchFailure()));
      const stop = () => reject(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
      this.#worker.once("exit", () => signal.removeEventListener("abort", stop));
      if (signal.aborted) stop();
    });
    this.#ended.catch(() => {});
  }

  /** The matches of each file, in all at most one more than asked for of each. The bytes are not ours any more. */
  match(files: readonly Uint8Array<ArrayBuffer>[], most: number): Promise<readonly FileMatches[]> {
    const answered = new Promise<readonly FileMatches[]>((resolve) => this.#worker.once("message", resolve));
    this.#worker.postMessage({ files, most }, [...new Set(files.map(({ buffer }) => buffer))]);
    return Promise.race([answered, this.#ended]);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** The pattern needed more memory or stack than there is. */
export class MatchFailure extends Error {}
