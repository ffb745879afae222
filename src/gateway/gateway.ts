import type { Readable, Writable } from "node:stream";
import type { Clock, MakeId } from "../base/index.js";
import { followFolders, Resolver } from "../instructions/index.js";
import type { Store } from "../store/index.js";
import { Connection, type ConnectionDeps, type Sink } from "./connection.js";
import { Auth } from "./http/auth.js";
import { type HttpServer, listen } from "./http/server.js";
import { Hub } from "./hub.js";
import { defaultLimits, type Limits } from "./limits.js";
import type { Log } from "./log.js";
import { Metrics } from "./metrics.js";
import { createHandlers } from "./rpc/handlers.js";
import { serveStdio } from "./stdio.js";

export interface GatewayDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly makeId: MakeId;
  readonly log: Log;
  readonly version: string;
  readonly limits?: Partial<Limits>;
}

/** Methods, subscriptions and limits over one store; transports are opened on it. */
export class Gateway {
  readonly #deps: ConnectionDeps;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #resolver: Resolver;

  constructor(deps: GatewayDeps) {
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#resolver = new Resolver(deps.store);
    const handlers = createHandlers({ ...deps, resolver: this.#resolver, follower: followFolders(deps) });
    const { log } = deps;
    this.#deps = {
      handlers,
      log,
      limits: { ...defaultLimits, ...deps.limits },
      metrics: new Metrics(),
      hub: new Hub(deps.store, log),
    };
  }

  /** HTTP and WebSocket on a port, guarded by a token. */
  async listen(options: {
    host: string;
    port: number;
    token: string;
  }): Promise<HttpServer & { newCode(): string }> {
    const auth = new Auth(options.token, this.#clock);
    const { host, port } = options;
    const server = await listen({ ...this.#deps, auth, store: this.#store, host, port });
    return { ...server, newCode: () => auth.newCode() };
  }

  stdio(input: Readable, output: Writable): Promise<void> {
    return serveStdio(this.#deps, input, output);
  }

  /** A connection within the process: for a command that needs a gateway only while it runs. */
  connect(sink: Sink): Connection {
    return new Connection(this.#deps, sink);
  }

  close(): void {
    this.#deps.hub.close();
    this.#resolver.close();
  }
}
