import { createHash, timingSafeEqual } from "node:crypto";
import { randomSecret } from "../base/index.js";
import { gatewayError } from "./rpc/errors.js";
import type { BoundThread } from "./rpc/peer.js";

/** So many commands never run at once; without a bound, those that are never ended would add up. */
const MOST_TOKENS = 1_000;

interface Given {
  readonly digest: Buffer;
  readonly bound: BoundThread;
  end(): void;
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

  issue({ workspace_id, thread_id }: Pick<BoundThread, "workspace_id" | "thread_id">): string {
    if (this.#given.size >= this.#most) {
      throw gatewayError(
        { kind: "overloaded", retry_after_ms: 1_000 },
        "Too many commands run at once. Try again when one of them has ended.",
      );
    }
    const name = `t${this.#next++}`;
    const secret = randomSecret();
    const ending = new AbortController();
    this.#given.set(name, {
      digest: digestOf(secret),
      bound: { workspace_id, thread_id, signal: ending.signal },
      end: () => ending.abort(),
    });
    return `${name}.${secret}`;
  }

  revoke(token: string): void {
    const given = this.#find(token);
    if (!given) return;
    this.#given.delete(nameOf(token));
    given.end();
    this.#ended(given.bound);
  }

  /** Undefined for a token that was never issued, or was revoked. */
  boundBy(token: string): BoundThread | undefined {
    return this.#find(token)?.bound;
  }

  /** Its time must not tell how much of a guess was right; the name in front of the secret is none. */
  #find(token: string): Given | undefined {
    const name = nameOf(token);
    const given = this.#given.get(name);
    const right = given && timingSafeEqual(digestOf(token.slice(name.length + 1)), given.digest);
    return right ? given : undefined;
  }
}

function nameOf(token: string): string {
  return token.split(".", 1)[0] as string;
}

function digestOf(secret: string): Buffer {
  return createHash("sha256").update(secret).digest();
}
