import type { RetryPolicy } from "../config.js";
import type { AttemptFailure } from "../failure.js";

/** How long to wait before the next attempt: what the server asks for, else longer each time. */
export function waitBefore(failure: AttemptFailure, attempt: number, policy: RetryPolicy): number {
  const wanted = failure.waitMs ?? backoff(failure, attempt, policy.backoffMs);
  return Math.round(Math.min(wanted, policy.longestWaitMs));
}

/** A connection that the server had closed while it was idle says nothing about the server: the first new one is not delayed. */
function backoff({ code }: AttemptFailure, attempt: number, baseMs: number): number {
  if (attempt === 1 && code === "provider.broken_stream") return 0;
  return baseMs * 2 ** (attempt - 1) * (0.75 + Math.random() * 0.5);
}

/** Headers of an answer, by their names in small letters. */
export type ReadHeaders = Pick<Headers, "get">;

/** Reads `Retry-After` (seconds or a date) and its variant in milliseconds. Nonsense is no wish. */
export function askedWait(headers: ReadHeaders, now: number): number | undefined {
  const exact = Number.parseFloat(headers.get("retry-after-ms") ?? "");
  if (exact >= 0) return exact;
  const text = headers.get("retry-after")?.trim() ?? "";
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000;
  const date = text === "" || /^[-+\d.]/.test(text) ? Number.NaN : Date.parse(text);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}
