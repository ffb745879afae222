import { createServer, type RequestListener, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { failures } from "../../base/index.js";
import type { Store } from "../../store/index.js";
import type { ConnectionDeps } from "../connection.js";
import type { Auth } from "./auth.js";
import { PLAIN_HEADERS } from "./headers.js";
import { isForeign } from "./origin.js";
import type { RouteDeps } from "./routes.js";
import { WebSockets } from "./websocket.js";

export type ListenFailure =
  | { kind: "listen.port_taken"; host: string; port: number }
  | { kind: "listen.failed"; host: string; port: number };

const listenError = failures<ListenFailure>();

export interface ServerDeps extends ConnectionDeps {
  readonly auth: Auth;
  readonly store: Store;
  readonly readAsset: RouteDeps["readAsset"];
  readonly domain: RouteDeps["domain"];
  readonly page: RouteDeps["page"];
  readonly host: string;
  readonly port: number;
}

export interface HttpServer {
  readonly port: number;
  /** Lets answers under way end until it is too late, then closes every connection. */
  stop(late: Promise<unknown>): Promise<void>;
}

export async function listen(deps: ServerDeps): Promise<HttpServer> {
  const answer = routesWhenAsked(deps);
  const { headersMs: headersTimeout, requestMs: requestTimeout, sockets: mostSockets } = deps.limits;
  // Whoever is late is only seen when somebody looks: left alone, that is every half minute.
  const timing = { headersTimeout, requestTimeout, connectionsCheckingInterval: headersTimeout / 4 };
  const server = createServer(timing, (request, response) => {
    // Before anything else looks at the request: a Host that is not ours says nothing about where it was meant to go.
    const { method, url = "", headers } = request;
    const open = method === "POST" && isCallback(url);
    if (!open && isForeign(headers.host, headers.origin, deps.host)) refuseForeign(response);
    else answer(request, response);
  });
  server.maxConnections = mostSockets;
  const sockets = new WebSockets(server, deps);
  await bind(server, deps.host, deps.port);
  return {
    port: (server.address() as AddressInfo).port,
    async stop(late) {
      sockets.stop();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeIdleConnections();
      await Promise.race([closed, late]);
      server.closeAllConnections();
      sockets.terminate();
    },
  };
}

/**
 * Where agents elsewhere answer: they may come through a tunnel or a proxy, under any name. What the check of the Host
 * keeps out, a page that makes a browser act for the user, can do nothing here: no cookie and no token counts, only the
 * secret in the address. Exactly that form, as it was sent: whatever a parser might turn into another address is not it.
 */
function isCallback(url: string): boolean {
  return /^\/external(\/(?!\.{1,2}(\/|$))[\w.-]+){3}$/.test(url);
}

/** Loads the routes with the first request: the start need not wait for what a client of the WebSocket never uses. */
function routesWhenAsked(deps: RouteDeps): RequestListener {
  let loading: Promise<RequestListener> | undefined;
  return (request, response) => {
    loading ??= loadRoutes(deps);
    loading.then(
      (answer) => answer(request, response),
      (error) => {
        deps.log.error({ err: error }, "the HTTP routes could not be loaded");
        response.writeHead(500, PLAIN_HEADERS).end();
      },
    );
  };
}

async function loadRoutes(deps: RouteDeps): Promise<RequestListener> {
  const [{ getRequestListener }, { createRoutes }] = await Promise.all([
    import("@hono/node-server"),
    import("./routes.js"),
  ]);
  return getRequestListener(createRoutes(deps).fetch);
}

function refuseForeign(response: ServerResponse): void {
  const error = "This gateway answers only its own address and its own page.";
  const headers = { ...PLAIN_HEADERS, "Content-Type": "application/json" };
  response.writeHead(403, headers).end(JSON.stringify({ error }));
}

function bind(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => {
      const taken = error.code === "EADDRINUSE";
      const why = taken
        ? "is already in use. Choose another with --port, or --port 0 for any free one"
        : `can't be used: ${error.message}`;
      const kind = taken ? "listen.port_taken" : "listen.failed";
      reject(listenError({ kind, host, port }, `Port ${port} on ${host} ${why}.`, error));
    });
    server.listen(port, host, resolve);
  });
}
