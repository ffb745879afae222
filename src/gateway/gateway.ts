import type { Readable, Writable } from "node:stream";
import type { Clock } from "../base/index.js";
import type { SessionPlaces } from "../imports/index.js";
import type { Resolver } from "../instructions/index.js";
import type { RunsDeps } from "../runs/index.js";
import { type Store, workspaces } from "../store/index.js";
import { type Follower, readThreadAsset } from "../threads/index.js";
import type { Panels } from "../tools/index.js";
import {
  CLOSE_GOING_AWAY,
  CLOSE_NOT_ALLOWED,
  CLOSE_TRY_AGAIN,
  Connection,
  type ConnectionDeps,
} from "./connection.js";
import type { ReadAsset } from "./http/assets.js";
import { Auth } from "./http/auth.js";
import type { PageFiles } from "./http/page.js";
import { type HttpServer, listen } from "./http/server.js";
import { Hub } from "./hub.js";
import { defaultLimits, type Limits } from "./limits.js";
import type { Log } from "./log.js";
import { Metrics } from "./metrics.js";
import type { Sink } from "./outbox.js";
import { createHandlers } from "./rpc/handlers.js";
import type { BoundThread } from "./rpc/peer.js";
import { serveStdio } from "./stdio.js";
import { ThreadAccess } from "./thread-access.js";

export interface GatewayDeps extends RunsDeps {
  readonly resolver: Resolver;
  readonly panels: Panels;
  readonly watching: Follower;
  /** Where the tools of this machine keep their sessions. */
  readonly sessionPlaces: SessionPlaces;
  readonly log: Log;
  readonly version: string;
  readonly limits?: Partial<Limits>;
  /** What a browser gets; without it, a few words. */
  readonly page?: PageFiles;
}

/** Methods, subscriptions and limits over one store; transports are opened on it. */
export class Gateway {
  /** Lets in what an agent starts, for its thread only, on every port. */
  readonly access = new ThreadAccess((bound) => this.#endFor(bound));
  readonly #deps: ConnectionDeps;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #unlisten: () => void;
  readonly #readAsset: ReadAsset;
  readonly #domain: GatewayDeps;
  readonly #servers: HttpServer[] = [];
  #stopping = false;

  constructor(deps: GatewayDeps) {
    this.#store = deps.store;
    this.#clock = deps.clock;
    this.#domain = deps;
    this.#readAsset = (ref, assetRef, mimeType) => readThreadAsset(deps, ref, assetRef, mimeType);
    const handlers = createHandlers(deps);
    const { log } = deps;
    const hub = new Hub(deps.store, log);
    const unlisten = [deps.store.onForget(() => this.#catchUp()), deps.live.on((note) => hub.tellLive(note))];
    this.#unlisten = () => {
      for (const stop of unlisten) stop();
    };
    this.#deps = {
      handlers,
      log,
      limits: { ...defaultLimits, ...deps.limits },
      metrics: new Metrics(),
      hub,
      panels: deps.panels,
      connections: new Set(),
      stopping: () => this.#stopping,
      exists: async (id) => (await deps.store.read(() => workspaces.findWorkspace(id))) !== undefined,
      opened: (id) => deps.watching.open(id).catch(() => {}),
    };
  }

  /** HTTP and WebSocket on a port, guarded by a token. */
  async listen(options: {
    host: string;
    port: number;
    token: string;
  }): Promise<{ readonly port: number; newCode(): string }> {
    const auth = new Auth(options.token, this.#clock, this.access);
    const { host, port } = options;
    const server = await listen({
      ...this.#deps,
      domain: this.#domain,
      auth,
      store: this.#store,
      readAsset: this.#readAsset,
      page: this.#domain.page,
      host,
      port,
    });
    this.#servers.push(server);
    return { port: server.port, newCode: () => auth.newCode() };
  }

  stdio(input: Readable, output: Writable): Promise<void> {
    return serveStdio(this.#deps, input, output);
  }

  /** A connection within the process: for a command that needs a gateway only while it runs. */
  connect(sink: Sink): Connection {
    return new Connection(this.#deps, sink);
  }

  /** Takes no more requests, lets those under way end within a time, and says goodbye. */
  async stop(withinMs: number): Promise<void> {
    this.#stopping = true;
    const { connections, hub } = this.#deps;
    const late = new Promise((resolve) => setTimeout(resolve, withinMs).unref());
    await Promise.race([late, Promise.all([...connections].map((connection) => connection.idle()))]);
    for (const connection of connections) connection.close(CLOSE_GOING_AWAY, "the gateway is stopping");
    await Promise.all(this.#servers.map((server) => server.stop(late)));
    this.#unlisten();
    hub.close();
  }

  /** A program that its command left behind must not go on acting for the thread. */
  #endFor(bound: BoundThread): void {
    for (const connection of this.#deps.connections) {
      if (connection.bound === bound) connection.close(CLOSE_NOT_ALLOWED, "the command has ended");
    }
  }

  /** Another gateway may have written meanwhile, and nobody here was told. Whoever can't catch up has to come back. */
  #catchUp(): void {
    for (const connection of this.#deps.connections) {
      if (connection.subscriptions?.catchUp() !== false) continue;
      connection.close(CLOSE_TRY_AGAIN, "the store was away: reconnect and resume from your last seq");
    }
  }
}
