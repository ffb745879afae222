import type { RpcError } from "../protocol/index.js";

/** The gateway refused a call. `kind` is stable and listed in docs/errors.md. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly code: number;
  readonly kind: string;
  readonly data: RpcError["data"];

  constructor({ code, message, data }: RpcError) {
    super(message);
    this.code = code;
    this.kind = data?.kind ?? "unknown";
    this.data = data;
  }

  /** The same call may succeed a moment later. */
  get retryable(): boolean {
    return this.code === -32001;
  }
}

/** A call got no answer. After `connection_lost` nobody knows whether it was carried out: look before repeating a change. */
export class NoAnswerError extends Error {
  override readonly name = "NoAnswerError";
  readonly kind: "connection_lost" | "timeout" | "cancelled" | "closed";

  constructor(kind: NoAnswerError["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}
