import { createHash, timingSafeEqual } from "node:crypto";
import { randomSecret } from "../base/index.js";
import { gatewayError } from "./rpc/errors.js";
import type { BoundThread } from "./rpc/peer.js";

/** So many commands never run at once; without a bound, those that are never ended would add up. */
const MOST_TOKENS = 1_000;

interface Given {
  readonly digest: Buffer;
  readonly of: Omit<BoundThread, "signal">;
  /** Undefined: the token lets nobody in at the moment. */
  open: { readonly bound: BoundThread; end(): void } | undefined;
}

type Thread = Pick<BoundThread, "workspace_id" | "thread_id">;

/** A token for the runs of a thread: it lets in only while it is open. */
export interface RunAccess {
  readonly token: string;
  open(): void;
  close(): void;
}

/**
 * Tokens for what an agent starts: each lets in for one thread, for as long as the command runs. They are kept in memory
 * only, so none outlives the gateway.
 */
export class ThreadAccess {
  readonly #given = new Map<string, Given>();
  readonly #ended: (bound: BoundThread) => void;
  readonly #most: number;
  #next = 1;

  /** `ended` is told when a token is revoked: whoever came in by it has to leave. */
  constructor(ended: (bound: BoundThread) => void, most = MOST_TOKENS) {
    this.#ended = ended;
    this.#most = most;
  }

  issue({ workspace_id, thread_id }: Thread): string {
    const { token, given } = this.#make({ workspace_id, thread_id });
    given.open = opened(given);
    return token;
  }

  /** For a program that is kept between runs: what it was started with stays the same, and is of no use in between. */
  issueForRuns({ workspace_id, thread_id }: Thread): RunAccess {
    const { token, given } = this.#make({ workspace_id, thread_id, waits: true });
    return {
      token,
      open: () => {
        given.open ??= opened(given);
      },
      close: () => this.#close(given),
    };
  }

  #make(of: Given["of"]): { token: string; given: Given } {
    if (this.#given.size >= this.#most) {
      throw gatewayError(
        { kind: "overloaded", retry_after_ms: 1_000 },
        "Too many commands run at once. Try again when one of them has ended.",
      );
    }
    const name = `t${this.#next++}`;
    const secret = randomSecret();
    const given: Given = { digest: digestOf(secret), of, open: undefined };
    this.#given.set(name, given);
    return { token: `${name}.${secret}`, given };
  }

  revoke(token: string): void {
    const given = this.#find(token);
    if (!given) return;
    this.#given.delete(nameOf(token));
    this.#close(given);
  }

  #close(given: Given): void {
    const { open } = given;
    given.open = undefined;
    open?.end();
    if (open) this.#ended(open.bound);
  }

  /** Undefined for a token that was never issued, was revoked, or is closed. */
  boundBy(token: string): BoundThread | undefined {
    return this.#find(token)?.open?.bound;
  }

  /** Its time must not tell how much of a guess was right; the name in front of the secret is none. */
  #find(token: string): Given | undefined {
    const name = nameOf(token);
    const given = this.#given.get(name);
    const right = given && timingSafeEqual(digestOf(token.slice(name.length + 1)), given.digest);
    return right ? given : undefined;
  }
}

function opened({ of }: Given): NonNullable<Given["open"]> {
  const ending = new AbortController();
  return { bound: { ...of, signal: ending.signal }, end: () => ending.abort() };
}

function nameOf(token: string): string {
  return token.split(".", 1)[0] as string;
}

function digestOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
