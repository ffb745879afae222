/** Every module's failures: a dotted, stable `kind` with the facts a caller needs to act. */
export interface Failure {
  readonly kind: string;
}

/** A refusal with a known cause. Anything else that is thrown is a bug, and is answered as an internal error. */
export class HeddleError extends Error {
  override readonly name = "HeddleError";
  readonly kind: string;
  readonly data: Readonly<Record<string, unknown>>;

  constructor(failure: Failure & Record<string, unknown>, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    const { kind, ...data } = failure;
    this.kind = kind;
    this.data = data;
  }
}

/** A constructor of errors that accepts only the failures a module declares. */
export function failures<F extends Failure>() {
  return (failure: F, message: string, cause?: unknown): HeddleError =>
    new HeddleError(failure as unknown as Failure & Record<string, unknown>, message, cause);
}

export function isKind(error: unknown, kind: string): error is HeddleError {
  return error instanceof HeddleError && error.kind === kind;
}
