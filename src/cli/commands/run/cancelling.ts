import { constants } from "node:os";

/** Who wants a run to end: the person, by a signal, or whoever read its answer and has gone. */
export type Cause = "SIGINT" | "SIGTERM" | "reader_gone";

/** The exit code of a program that a signal ends. */
const BY_SIGNAL = 128;

/** The first signal cancels and waits for what came; a second one leaves at once. */
export class Cancelling {
  cause: Cause | undefined;
  #cancel: (() => void) | undefined;
  readonly #stops: (() => void)[] = [];

  /** From now on a signal no longer ends the process by itself. */
  listen(): void {
    for (const signal of ["SIGINT", "SIGTERM"] as const) {
      const hear = () => this.#signalled(signal);
      process.on(signal, hear);
      this.#stops.push(() => process.off(signal, hear));
    }
    const gone = (error: NodeJS.ErrnoException) => {
      if (error.code === "EPIPE") this.#want("reader_gone");
    };
    process.stdout.on("error", gone);
    this.#stops.push(() => process.stdout.off("error", gone));
  }

  /** How to cancel, from now on. What was wanted before is done now. */
  by(cancel: () => void): void {
    this.#cancel = cancel;
    if (this.cause) cancel();
  }

  /** Undefined when no signal came. */
  get exitCode(): number | undefined {
    return this.cause === undefined || this.cause === "reader_gone" ? undefined : codeOf(this.cause);
  }

  stop(): void {
    for (const stop of this.#stops) stop();
  }

  #signalled(signal: "SIGINT" | "SIGTERM"): void {
    if (this.cause) process.exit(codeOf(signal));
    this.#want(signal);
  }

  #want(cause: Cause): void {
    if (this.cause) return;
    this.cause = cause;
    this.#cancel?.();
  }
}

function codeOf(signal: "SIGINT" | "SIGTERM"): number {
  return BY_SIGNAL + constants.signals[signal];
}
