import type { McpHttpHandler, McpRequestContext, Server } from "@modelcontextprotocol/server";
import type { HeddleError } from "../../base/index.js";
import { RPC_CODES, type RpcError } from "../../protocol/index.js";
import { readBody } from "../http/body.js";
import { type InsideDeps, readJson } from "../inside/caller.js";
import { workspaceWish } from "../inside/choose-workspace.js";
import type { RateLimit } from "../limits.js";
import { gatewayError, knownError } from "../rpc/errors.js";
import type { BoundThread } from "../rpc/peer.js";
import { type Calling, CallsUnderWay } from "./calls-under-way.js";
import { ownFace } from "./own-face.js";
import { loadSdk, type ServerSdk } from "./sdk.js";
import { type CallBegun, serverFor } from "./server.js";
import { threadFace } from "./thread-face.js";

/** Streams that only wait for news: there are none, but the protocol lets a client open one. */
const MOST_LISTENING = 100;
const RETRY_SECONDS = 1;

/** One request, as the rest of it is answered with. */
interface Asked {
  readonly request: Request;
  readonly bound: BoundThread | undefined;
  /** Fires when the client has gone, or its token is not valid any more. */
  readonly gone: AbortSignal;
}

/**
 * `/mcp`: without sessions, so that what a client was given lasts as long as its token, over a restart of the gateway and
 * between the runs of a program that is kept.
 */
export class McpEndpoint {
  readonly #deps: InsideDeps;
  readonly #rate: RateLimit;
  readonly #underWay = new CallsUnderWay();
  #calls = 0;
  #handler: Promise<McpHttpHandler> | undefined;

  constructor(deps: InsideDeps, rate: RateLimit) {
    this.#deps = deps;
    this.#rate = rate;
  }

  async answer(request: Request, bound: BoundThread | undefined): Promise<Response> {
    const { limits, stopping } = this.#deps;
    if (stopping()) return refused(503, gatewayError({ kind: "stopping" }, "The gateway is stopping."));
    if (!this.#rate.take()) return refused(429, overloaded());
    const gone = bound ? AbortSignal.any([request.signal, bound.signal]) : request.signal;
    const { url, method, headers } = request;
    // Its body was read by us, and its signal fires for more than a lost connection.
    const bare = new Request(url, { method, headers, signal: gone });
    const body = method === "POST" ? await readBody(request, limits.messageBytes) : undefined;
    if (body && "error" in body) return refused(body.error.kind === "parse_error" ? 400 : 413, body.error);
    const parsed = body && readJson(body.text, limits);
    if (parsed && "error" in parsed) return refused(400, parsed.error);
    if (parsed) this.#noteCancel(bound ?? clientOf(headers), parsed.value);
    const handler = await this.#load();
    const extra = { asked: { request, bound, gone } satisfies Asked };
    const authInfo = { token: "", clientId: "", scopes: [], extra };
    return handler.fetch(bare, { authInfo, ...(parsed && { parsedBody: parsed.value }) });
  }

  #load(): Promise<McpHttpHandler> {
    this.#handler ??= loadSdk().then((sdk) =>
      sdk.createMcpHandler((context) => this.#server(sdk, context), {
        maxSubscriptions: MOST_LISTENING,
        // A call may wait for minutes: its client hears at once that it was taken, and from time to time that it goes on.
        responseMode: "sse",
        onerror: (error) => this.#deps.log.debug({ err: error }, "a request over MCP was refused"),
      }),
    );
    return this.#handler;
  }

  #server(sdk: ServerSdk, { authInfo }: McpRequestContext): Server {
    const { request, bound, gone } = askedIn(authInfo);
    const deps = this.#deps;
    const outsider = { rate: this.#rate, gone, bound, client: "mcp" };
    const face = bound
      ? threadFace(deps, outsider, bound)
      : ownFace(deps, outsider, workspaceWish(request.headers));
    return serverFor(sdk, {
      deps,
      face,
      begin: (id) => this.#begin(id, bound ?? clientOf(request.headers), gone),
    });
  }

  #begin(id: string | number, by: Calling, gone: AbortSignal): CallBegun {
    if (this.#calls >= this.#deps.limits.inFlight) throw overloaded();
    this.#calls++;
    const cancelled = this.#underWay.begin(by, id);
    return {
      signal: AbortSignal.any([gone, cancelled.signal]),
      end: () => {
        this.#calls--;
        cancelled.end();
      },
    };
  }

  #noteCancel(by: Calling, value: unknown): void {
    const { method, params } = (value ?? {}) as { method?: unknown; params?: { requestId?: unknown } };
    const id = method === "notifications/cancelled" ? params?.requestId : undefined;
    if (typeof id === "string" || typeof id === "number") this.#underWay.cancel(by, id);
  }
}

/** What a client says of itself with each request: all that tells those with the gateway's own token apart. */
const TELLING = ["x-heddle-workspace", "x-heddle-directory", "user-agent", "mcp-protocol-version", "origin"];

function clientOf(headers: Headers): string {
  return JSON.stringify(TELLING.map((name) => headers.get(name)));
}

/** The way to hand something on to the server of a request is the one that is meant for who asks. */
function askedIn(authInfo: McpRequestContext["authInfo"]): Asked {
  return authInfo?.extra?.asked as Asked;
}

function overloaded(): HeddleError {
  return gatewayError(
    { kind: "overloaded", retry_after_ms: RETRY_SECONDS * 1000 },
    "Too many requests at once. Wait a moment and try again.",
  );
}

function refused(status: number, why: HeddleError): Response {
  const error = knownError(why) as RpcError;
  const isBusy = error.code === RPC_CODES.overloaded;
  return new Response(JSON.stringify({ jsonrpc: "2.0", id: null, error }), {
    status,
    headers: {
      "Content-Type": "application/json",
      ...(isBusy && { "Retry-After": String(RETRY_SECONDS) }),
    },
  });
}
