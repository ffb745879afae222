import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import { failures } from "../../base/index.js";
import type { Store } from "../../store/index.js";
import type { ConnectionDeps } from "../connection.js";
import type { Auth } from "./auth.js";
import { createRoutes } from "./routes.js";
import { WebSockets } from "./websocket.js";

export type ListenFailure =
  | { kind: "listen.port_taken"; host: string; port: number }
  | { kind: "listen.failed"; host: string; port: number };

const listenError = failures<ListenFailure>();

export interface ServerDeps extends ConnectionDeps {
  readonly auth: Auth;
  readonly store: Store;
  readonly host: string;
  readonly port: number;
}

export interface HttpServer {
  readonly port: number;
  /** Ends what can be ended within a time, then closes every connection. */
  stop(withinMs: number): Promise<void>;
}

export async function listen(deps: ServerDeps): Promise<HttpServer> {
  let stopping = false;
  const routes = createRoutes({ ...deps, stopping: () => stopping });
  const server = createServer(getRequestListener(routes.fetch));
  server.headersTimeout = 10_000;
  server.requestTimeout = 30_000;
  const sockets = new WebSockets(server, deps);
  await bind(server, deps.host, deps.port);
  return {
    port: (server.address() as AddressInfo).port,
    async stop(withinMs) {
      stopping = true;
      const closed = new Promise((resolve) => server.close(resolve));
      await sockets.stop(withinMs);
      server.closeIdleConnections();
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, withinMs).unref())]);
      server.closeAllConnections();
    },
  };
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
