import { Hono } from "hono";
import { configJsonSchema } from "../../agents/index.js";
import * as atsf from "../../atsf/index.js";
import { jsonSchemas } from "../../protocol/index.js";
import type { Store } from "../../store/index.js";
import { addChatCompletions, openAiRefusal } from "../chat-completions/routes.js";
import { addExternalCallback } from "../external/callback.js";
import type { InsideDeps } from "../inside/caller.js";
import { type Limits, RateLimit } from "../limits.js";
import { McpEndpoint } from "../mcp/endpoint.js";
import type { Metrics } from "../metrics.js";
import { dispatch } from "../rpc/dispatch.js";
import { knownError } from "../rpc/errors.js";
import { type BoundThread, Exchange, type Peer } from "../rpc/peer.js";
import { answerAsset, type ReadAsset } from "./assets.js";
import type { Auth } from "./auth.js";
import { readBody } from "./body.js";
import { PLAIN_HEADERS } from "./headers.js";
import { addPage, addVisits, type PageFiles } from "./page.js";

export interface RouteDeps extends InsideDeps {
  readonly auth: Auth;
  readonly store: Store;
  readonly metrics: Metrics;
  readonly limits: Limits;
  readonly readAsset: ReadAsset;
  readonly page?: PageFiles | undefined;
}

type Env = { Variables: { bound: BoundThread | undefined } };

/** Everything the gateway answers over HTTP, apart from the WebSocket. */
export function createRoutes(deps: RouteDeps): Hono<Env> {
  const app = new Hono<Env>();
  const rate = new RateLimit(deps.limits);
  app.use(async (c, next) => {
    await next();
    for (const [name, value] of Object.entries(PLAIN_HEADERS)) c.header(name, value);
  });
  addPage(app, deps.page, deps.auth);
  addOpenRoutes(app, deps);
  addExternalCallback(app, deps);
  app.use(async (c, next) => {
    const admitted = deps.auth.admit(c.req.header());
    const { path } = c.req;
    if (!admitted) {
      c.header("WWW-Authenticate", "Bearer");
      return c.json(refusal(path, "This needs the gateway's token: Authorization: Bearer <token>."), 401);
    }
    if (admitted.bound && path !== "/rpc" && path !== "/mcp") {
      const error = refusal(path, "The token of a thread is for /rpc and /mcp only.");
      return c.json({ ...error, kind: "not_allowed" }, 403);
    }
    c.set("bound", admitted.bound);
    return next();
  });
  addVisits(app, deps.auth);
  app.get("/metrics", async (c) => {
    const { type, text } = await deps.metrics.render();
    return c.body(text, 200, { "Content-Type": type });
  });
  app.get("/threads/:thread_id/assets/:asset_ref", (c) => answerAsset(c, deps.readAsset));
  app.post("/rpc", async (c) => {
    const answer = await answerPost(deps, c.req.raw, { rate, bound: c.get("bound") });
    return answer === undefined
      ? c.body(null, 204)
      : c.body(answer, 200, { "Content-Type": "application/json" });
  });
  app.all("/rpc", (c) => {
    c.header("Allow", "POST");
    return c.json({ error: "Use POST for a single answer, or open a WebSocket." }, 405);
  });
  const mcp = new McpEndpoint(deps, rate);
  app.all("/mcp", (c) => mcp.answer(c.req.raw, c.get("bound")));
  addChatCompletions(app, deps, rate);
  // A client that went away in the middle of its request is the usual cause; no answer reaches it.
  app.onError((error, c) => {
    deps.log.info({ err: error, path: c.req.path }, "a request could not be read or answered");
    return c.json({ error: "Something went wrong in the gateway. Its log says more." }, 500);
  });
  app.notFound((c) => c.json({ error: "There is nothing at this address." }, 404));
  return app;
}

/** In the words of whoever asks there. */
function refusal(path: string, message: string): object {
  return path.startsWith("/v1/") ? openAiRefusal(message) : { error: message };
}

function addOpenRoutes(app: Hono<Env>, { store, stopping }: RouteDeps): void {
  let schemas: Map<string, object> | undefined;
  app.get("/healthz", (c) => c.json({ status: "ok" }));
  app.get("/readyz", async (c) => {
    if (stopping()) return c.json({ ready: false, kind: "stopping" }, 503);
    try {
      await store.check();
      return c.json({ ready: true });
    } catch (error) {
      return c.json({ ready: false, kind: knownError(error)?.data.kind ?? "internal" }, 503);
    }
  });
  app.get("/schemas/", (c) => {
    schemas ??= allSchemas();
    return c.json({ data: [...schemas.keys()].map((name) => `/schemas/${name}.json`) });
  });
  app.get("/schemas/:file", (c) => {
    schemas ??= allSchemas();
    const schema = schemas.get(c.req.param("file").replace(/\.json$/, ""));
    if (!schema) return c.json({ error: "There is no such schema; /schemas/ lists them." }, 404);
    return c.body(JSON.stringify(schema), 200, { "Content-Type": "application/schema+json" });
  });
}

function allSchemas(): Map<string, object> {
  return new Map([...jsonSchemas(), ...atsf.jsonSchemas(), ["heddle_config", configJsonSchema()]]);
}

async function answerPost(
  deps: RouteDeps,
  request: Request,
  from: Pick<Peer, "rate" | "bound">,
): Promise<string | undefined> {
  const body = await readBody(request, deps.limits.messageBytes);
  if ("error" in body) return JSON.stringify({ jsonrpc: "2.0", id: null, error: knownError(body.error) });
  // A peer for the time of one request: nothing can be told to it later.
  const { signal: gone } = request;
  const peer: Peer = { ...from, gone, client: undefined, inFlight: 0, subscriptions: undefined };
  const exchange = new Exchange(peer);
  try {
    return await dispatch(deps, body.text, peer, exchange);
  } finally {
    exchange.settle();
  }
}
