import { Agent, request } from "undici";
import { VERSION } from "../../base/index.js";
import type { AttemptFailure } from "../failure.js";
import type { ReadHeaders } from "./retry.js";

export type Answer = Awaited<ReturnType<typeof request>>;

/** Sends one request. Timeouts after the connection stands are the caller's; redirects are not followed, for keys would follow. */
export function send(
  { url, body }: RequestSent,
  options: { headers: Record<string, string>; signal: AbortSignal; connectMs: number },
): Promise<Answer> {
  return request(url, {
    method: "POST",
    body,
    headers: options.headers,
    signal: options.signal,
    dispatcher: agentFor(options.connectMs),
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

export interface RequestToSend {
  readonly headers?: unknown;
  readonly body?: unknown;
}

/** What leaves: a text, or its UTF-8 bytes where it was written in them. */
export interface RequestSent {
  readonly url: string;
  readonly body: string | Uint8Array;
}

export function sentRequest(url: unknown, init?: RequestToSend): RequestSent {
  const body = init?.body;
  return { url: String(url), body: body instanceof Uint8Array ? body : String(body) };
}

/** Without a key, an API's code sends an empty one, which some servers take for a wrong one. */
export function requestHeaders(given: Record<string, string> = {}): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value !== "" && value.trim() !== "Bearer") headers[name.toLowerCase()] = value;
  }
  return { ...headers, "user-agent": `heddle/${VERSION}` };
}

/** Of several values, the first. */
export function responseHeaders(raw: Answer["headers"]): ReadHeaders {
  return { get: (name) => [raw[name]].flat()[0] ?? null };
}

/** Connections are kept for the next turn, which would otherwise wait for TLS again. They keep no process alive. */
const KEEP_ALIVE_MS = 60_000;
const agents = new Map<number, Agent>();

function agentFor(connectMs: number): Agent {
  const known = agents.get(connectMs);
  if (known) return known;
  const agent = new Agent({ keepAliveTimeout: KEEP_ALIVE_MS, connect: { timeout: connectMs } });
  agents.set(connectMs, agent);
  return agent;
}

/** Closed after it was opened: by a server that died, or one that had given up an idle connection. */
const closed = new Set(["ECONNRESET", "EPIPE", "ECONNABORTED", "UND_ERR_SOCKET", "UND_ERR_CLOSED"]);

/** Why no answer came. */
export function connectionFailure(error: unknown, place: string): AttemptFailure {
  const code = errorCode(error);
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") {
    return {
      code: "provider.timeout",
      phase: "connect",
      words: `${place} could not be reached in time`,
      again: true,
    };
  }
  if (closed.has(code)) {
    return {
      code: "provider.broken_stream",
      words: `${place} closed the connection without an answer`,
      again: true,
    };
  }
  if (code.startsWith("HPE_")) {
    return { code: "provider.content_type", words: `${place} does not answer in HTTP`, again: false };
  }
  if (/CERT|TLS|SSL|SIGNED/.test(code)) {
    const words = `The connection to ${place} is not secure (${code})`;
    return { code: "provider.unreachable", words, again: false };
  }
  const words = `${place} could not be reached (${code || (error as Error)?.message || "no reason given"})`;
  return { code: "provider.unreachable", words, again: true };
}

function errorCode(error: unknown): string {
  for (
    let current = error, depth = 0;
    current instanceof Error && depth < 5;
    current = current.cause, depth += 1
  ) {
    const { code } = current as Error & { code?: unknown };
    if (typeof code === "string") return code;
    if (current.name === "HTTPParserError") return "HPE_UNKNOWN";
  }
  return "";
}
