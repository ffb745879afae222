import { createHash, createHmac, timingSafeEqual } from "node:crypto";
import { type Clock, randomSecret } from "../../base/index.js";
import type { BoundThread } from "../rpc/peer.js";
import type { ThreadAccess } from "../thread-access.js";

const SESSION_MS = 30 * 24 * 3600 * 1000;
const CODE_MS = 10 * 60 * 1000;

/** The headers that say who is asking. */
interface Credentials {
  readonly authorization?: string | undefined;
  readonly cookie?: string | undefined;
  readonly host?: string | undefined;
}

/**
 * Who may come in: whoever has the token, or a browser that exchanged the one-time code of the printed address for a
 * session. A session is signed with the token, so it outlives a restart and ends when the token changes. Whoever has the
 * token of a thread may act for that thread, and do nothing else.
 */
export class Auth {
  readonly #token: string;
  readonly #clock: Clock;
  readonly #threads: ThreadAccess | undefined;
  readonly #codes = new Map<string, number>();

  constructor(token: string, clock: Clock, threads?: ThreadAccess) {
    this.#token = token;
    this.#clock = clock;
    this.#threads = threads;
  }

  /** Undefined: it may not come in. Decided once, for as long as whoever comes in stays. */
  admit(credentials: Credentials): { readonly bound: BoundThread | undefined } | undefined {
    if (this.allows(credentials)) return { bound: undefined };
    const bearer = bearerOf(credentials.authorization);
    const bound = bearer === undefined ? undefined : this.#threads?.boundBy(bearer);
    return bound && { bound };
  }

  /** Whether it may do everything. */
  allows({ authorization, cookie, host }: Credentials): boolean {
    const bearer = bearerOf(authorization);
    if (bearer !== undefined) return same(bearer, this.#token);
    const session = cookieNamed(cookie, cookieName(host));
    return session !== undefined && this.#isSession(session);
  }

  /** A code for one visit, to be printed within an address. */
  newCode(): string {
    const code = randomSecret();
    this.#codes.set(code, this.#clock.now() + CODE_MS);
    return code;
  }

  /** The Set-Cookie of a new session, for a code that was not used yet. */
  redeem(code: string, host: string | undefined): string | undefined {
    const until = this.#codes.get(code);
    this.#codes.delete(code);
    if (until === undefined || until < this.#clock.now()) return undefined;
    const ends = String(this.#clock.now() + SESSION_MS);
    const value = `${ends}.${this.#sign(ends)}`;
    return `${cookieName(host)}=${value}; HttpOnly; SameSite=Strict; Path=/; Max-Age=${SESSION_MS / 1000}`;
  }

  #isSession(value: string): boolean {
    const [ends = "", signature = ""] = value.split(".");
    return same(signature, this.#sign(ends)) && Number(ends) > this.#clock.now();
  }

  #sign(text: string): string {
    return createHmac("sha256", this.#token).update(`session:${text}`).digest("base64url");
  }
}

function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer (.+)$/i.exec(authorization ?? "")?.[1];
}

/** Compares without telling by its time how much was right; hashing makes the lengths equal. */
function same(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}

/** A browser gives all ports of a host the same cookies: each gateway there needs a name of its own. */
function cookieName(host: string | undefined): string {
  return `heddle_session_${/:(\d+)$/.exec(host ?? "")?.[1] ?? "80"}`;
}

function cookieNamed(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(";") ?? []) {
    const [key, value] = pair.trim().split("=", 2);
    if (key === name) return value;
  }
  return undefined;
}
