import type { FetchLike, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Allowance } from "../../base/index.js";
import { McpProblem } from "./problem.js";
import type { McpSdk } from "./sdk.js";

const MOST_ANSWER = 16 * 1024 * 1024;
const SHORTEST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;
const TRIES = 3;

export interface HttpGiven {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Called when the server is not there any more, or does not know us any more. */
  lost(problem: string): void;
}

/** A server at an address. Redirects are followed within its origin only: the headers are meant for nobody else. */
export function httpTransport(sdk: McpSdk, given: HttpGiven): StreamableHTTPClientTransport {
  const transport = new sdk.StreamableHTTPClientTransport(new URL(given.url), {
    requestInit: { headers: { ...given.headers } },
    fetch: boundedFetch(given),
    redirectPolicy: "same-origin",
    reconnectionOptions: {
      initialReconnectionDelay: SHORTEST_WAIT_MS,
      maxReconnectionDelay: LONGEST_WAIT_MS,
      reconnectionDelayGrowFactor: 2,
      maxRetries: TRIES,
    },
    reconnectionScheduler: patiently,
  });
  noticeSilentEnds(transport);
  return transport;
}

/** The server may name a wait of nothing: it is not asked without end. */
function patiently(reconnect: () => void, delay: number): () => void {
  const wait = Math.min(Math.max(delay, SHORTEST_WAIT_MS), LONGEST_WAIT_MS);
  const timer = setTimeout(reconnect, wait).unref();
  return () => clearTimeout(timer);
}

/** A stream that ends without an answer would leave its caller waiting until the time is up. */
function noticeSilentEnds(transport: StreamableHTTPClientTransport): void {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const id = !Array.isArray(message) && "method" in message && "id" in message ? message.id : undefined;
    if (id === undefined) return send(message, options);
    const error = { code: -32000, message: "it ended its answer before it had given one" };
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      transport.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    return send(message, { ...options, onRequestStreamEnd });
  };
}

function boundedFetch({ lost }: HttpGiven): FetchLike {
  const heard = new Allowance();
  return async (url, init) => {
    const isWanted = () => init?.signal?.aborted !== true;
    const isPost = init?.method === "POST";
    let response: Response;
    try {
      response = await fetch(url, init);
    } catch (error) {
      if (isWanted()) lost(notReached(error));
      throw error;
    }
    const session = new Headers(init?.headers).has("mcp-session-id");
    if (response.status === 404 && session) lost("does not know our session any more");
    return bounded(response, heard, () => {
      if (isPost && isWanted()) lost("broke off in the middle of an answer");
    });
  };
}

function notReached(error: unknown): string {
  const code = (error as { cause?: { code?: unknown } }).cause?.code;
  return typeof code === "string" ? `can't be reached (${code})` : "can't be reached";
}

/** A body that never ends, or comes faster than it can be read, must not fill our memory. */
function bounded(response: Response, heard: Allowance, broken: () => void): Response {
  if (response.body === null) return response;
  const reader = response.body.getReader();
  let bytes = 0;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch((error) => {
        broken();
        throw error;
      });
      if (done) return controller.close();
      bytes += value.length;
      if (bytes > MOST_ANSWER) {
        await reader.cancel().catch(() => {});
        throw new McpProblem(`sent an answer of more than ${MOST_ANSWER / 1024 / 1024} MiB`);
      }
      const wait = heard.take(value.length, lineEnds(value));
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait).unref());
      controller.enqueue(value);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  const { status, statusText, headers } = response;
  return new Response(body, { status, statusText, headers });
}

function lineEnds(bytes: Uint8Array): number {
  let ends = 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) ends += 1;
  return ends;
}
