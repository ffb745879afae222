import type { FinishReason, PermissionAnswer, ProviderEvent } from "../provider.js";
import { type Conversation, ProgramProblem, type Tell, type Turn } from "./program.js";

interface Watch {
  readonly signal: AbortSignal | undefined;
  readonly silenceMs: number;
  /** Whether it waits for something of ours. */
  isAwaited(): boolean;
}

type Asking = (turn: Turn, tell: Tell) => Promise<FinishReason>;

/** Between a program that tells and a reader that takes: in order, bounded in time, and over at once when it is aborted. */
export class TurnEvents {
  readonly #watch: Watch;
  readonly #queue: ProviderEvent[] = [];
  #wake = () => {};
  #asking = 0;
  #heardAt = performance.now();
  #broken: Error | undefined;
  readonly #breaking: Promise<never>;
  #break: (error: Error) => void = () => {};
  readonly #stopWatching: () => void;

  constructor(conversation: Conversation, watch: Watch) {
    this.#watch = watch;
    this.#breaking = new Promise((_, reject) => {
      this.#break = (error) => {
        this.#broken ??= error;
        reject(error);
        this.#wake();
      };
    });
    this.#breaking.catch(() => {});
    const stop = () => {
      this.#break(new ProgramProblem("program.exited", "was stopped"));
      // At once, whether or not anyone is reading.
      conversation.end("now").catch(() => {});
    };
    const { signal } = watch;
    if (signal?.aborted) stop();
    signal?.addEventListener("abort", stop, { once: true });
    const timer = setInterval(() => this.#lookAtSilence(), Math.min(1_000, watch.silenceMs));
    this.#stopWatching = () => {
      clearInterval(timer);
      signal?.removeEventListener("abort", stop);
    };
  }

  close(): void {
    this.#stopWatching();
  }

  /** Nothing is begun for a turn that is over. */
  throwIfOver(): void {
    if (this.#broken) throw this.#broken;
  }

  /** What comes of it, or a failure when it takes too long or the turn is aborted. */
  async within<T>(doing: Promise<T>, ms: number): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      const words = `was not ready within ${Math.round(ms / 1_000)} s`;
      timer = setTimeout(() => reject(new ProgramProblem("program.silent", words)), ms);
    });
    doing.catch(() => {});
    try {
      return await Promise.race([doing, late, this.#breaking]);
    } finally {
      clearTimeout(timer);
    }
  }

  async whileAsking(answer: Promise<PermissionAnswer>): Promise<PermissionAnswer> {
    this.#asking += 1;
    try {
      return await answer;
    } finally {
      this.#asking -= 1;
      this.#heardAt = performance.now();
    }
  }

  async *of(turn: Turn, ask: Asking): AsyncGenerator<ProviderEvent> {
    this.throwIfOver();
    this.#heardAt = performance.now();
    let ended: FinishReason | undefined;
    const tell: Tell = (event) => {
      if (ended !== undefined || this.#broken) return;
      this.#heardAt = performance.now();
      this.#queue.push(event);
      this.#wake();
    };
    ask(turn, tell).then(
      (reason) => {
        ended = reason;
        this.#wake();
      },
      (error) => this.#break(error as Error),
    );
    for (;;) {
      while (this.#queue.length > 0) yield this.#queue.shift() as ProviderEvent;
      this.throwIfOver();
      if (ended !== undefined) return yield { type: "finish", reason: ended };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #lookAtSilence(): void {
    const { silenceMs } = this.#watch;
    if (this.#asking > 0 || this.#watch.isAwaited()) this.#heardAt = performance.now();
    if (performance.now() - this.#heardAt < silenceMs) return;
    const words = `said nothing for ${Math.round(silenceMs / 1_000)} s`;
    this.#break(new ProgramProblem("program.silent", words));
  }
}
