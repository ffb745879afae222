import { setTimeout as sleep } from "node:timers/promises";
import { onOneLine, VERSION } from "../../base/index.js";
import { askedWait, type Redact, redactor } from "../../providers/index.js";
import type { RunError } from "../fold/events.js";
import type { Post } from "./hand-over.js";

export type SendOutcome =
  | { readonly status: "accepted" | "stopped" }
  | { readonly status: "failed"; readonly error: RunError };

/** An agent that takes longer to take a message does its work before it says so. */
const ANSWER_MS = 30_000;
const RETRIES = 4;
const BACKOFF_MS = 500;
const LONGEST_WAIT_MS = 60_000;
const MOST_BYTES = 64 * 1024;
const MOST_WORDS = 500;

interface Failure {
  readonly code: `external.${string}`;
  /** Completes a sentence that begins with where it is. */
  readonly words: string;
  readonly again: boolean;
  readonly waitMs?: number | undefined;
}

/** Posts a message until it is taken, refused, or not worth another attempt. It never throws. */
export async function sendPost(
  post: Post,
  { signal, isWanted }: { readonly signal: AbortSignal; readonly isWanted: () => boolean },
): Promise<SendOutcome> {
  const redact = redactor(post.secrets);
  for (let attempt = 1; ; attempt += 1) {
    const failure = await tryOnce(post, signal, redact);
    if (!failure) return { status: "accepted" };
    if (signal.aborted) return { status: "stopped" };
    if (!failure.again || attempt > RETRIES) return { status: "failed", error: told(post, failure, attempt) };
    const wait = failure.waitMs ?? BACKOFF_MS * 2 ** (attempt - 1) * (0.75 + Math.random() / 2);
    await sleep(Math.min(wait, LONGEST_WAIT_MS), undefined, { signal }).catch(() => {});
    // An answer says more than any status: there is nothing left to post.
    if (signal.aborted || !isWanted()) return { status: "stopped" };
  }
}

function told({ address }: Post, { code, words }: Failure, attempts: number): RunError {
  const tries = attempts > 1 ? ` It was tried ${attempts} times.` : "";
  return { code, message: `The agent at ${new URL(address.inputUrl).host} ${words}.${tries}` };
}

async function tryOnce(post: Post, signal: AbortSignal, redact: Redact): Promise<Failure | undefined> {
  const { url, headers } = requestTo(post);
  const late = AbortSignal.timeout(ANSWER_MS);
  try {
    const response = await fetch(url, {
      method: "POST",
      body: post.body,
      headers,
      // Whoever it leads to was not configured: neither the message nor the headers are theirs.
      redirect: "manual",
      signal: AbortSignal.any([signal, late]),
    });
    if (response.ok) {
      void beginningOf(response).catch(() => {});
      return undefined;
    }
    return await refusal(response, redact);
  } catch (error) {
    if (late.aborted)
      return {
        code: "external.timeout",
        words: `did not take the message within ${ANSWER_MS / 1000} s`,
        again: true,
      };
    return {
      code: "external.unreachable",
      words: `could not be reached (${redact(reasonOf(error))})`,
      again: true,
    };
  }
}

/** A name and a password within an address belong into a header: no request may have them in its address. */
function requestTo({ address, key }: Post): { url: string; headers: Headers } {
  const url = new URL(address.inputUrl);
  const headers = new Headers({ "user-agent": `heddle/${VERSION}`, ...address.headers });
  if (url.username !== "" && !headers.has("authorization")) {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers.set("authorization", `Basic ${Buffer.from(pair).toString("base64")}`);
  }
  url.username = "";
  url.password = "";
  headers.set("content-type", "application/json");
  headers.set("idempotency-key", key);
  return { url: url.href, headers };
}

const PASSING = new Set([408, 425, 429]);
/** What the server is, not how it is doing. */
const LASTING = new Set([501, 505]);

async function refusal(response: Response, redact: Redact): Promise<Failure> {
  const { status, headers } = response;
  const said = wordsOf(await beginningOf(response).catch(() => ""), redact);
  if (status >= 300 && status < 400) {
    return {
      code: "external.refused",
      words: `sends messages elsewhere (status ${status}), which is not followed`,
      again: false,
    };
  }
  const words = `answers with status ${status}${said === "" ? "" : `: ${said}`}`;
  const again = PASSING.has(status) || (status >= 500 && !LASTING.has(status));
  const code = again ? "external.unavailable" : "external.refused";
  return { code, words, again, waitMs: askedWait(headers, Date.now()) };
}

async function beginningOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > MOST_BYTES) break;
  }
  return Buffer.concat(chunks).subarray(0, MOST_BYTES).toString();
}

/** What a server says went wrong, in one line without secrets. */
function wordsOf(body: string, redact: Redact): string {
  return onOneLine(redact(problemIn(body)))
    .slice(0, MOST_WORDS)
    .toWellFormed()
    .replace(/\.$/, "");
}

function problemIn(body: string): string {
  try {
    const { error, message } = JSON.parse(body) as { error?: unknown; message?: unknown };
    const said = [error, (error as { message?: unknown } | null)?.message, message];
    return said.find((text) => typeof text === "string") ?? body;
  } catch {
    return body;
  }
}

function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & { cause?: { code?: unknown; message?: unknown } };
  return String(cause?.code ?? cause?.message ?? message ?? "no reason given");
}
