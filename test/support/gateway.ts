import { type App, type AppOptions, startApp } from "../../src/app/index.js";
import { type Client, connect } from "../../src/client/node.js";
import type { StoreKind, StorePlace } from "./stores.js";
import { Wire } from "./wire.js";

/** A whole gateway on a free port, over a store of its own. */
export interface TestGateway {
  readonly app: App;
  readonly url: string;
  readonly token: string;
  /** An address that lets a browser in, once. */
  pageUrl(): string;
  readonly place: StorePlace;
  /** The workspace every fresh store has. */
  readonly home: string;
  /** A raw WebSocket that checks every answer against the published schemas. */
  wire(): Promise<Wire>;
  client(name?: string): Client;
  /** Stops and starts again over the same data, on another port. */
  restart(): Promise<TestGateway>;
  stop(): Promise<void>;
}

export async function startGateway(kind: StoreKind, options: Partial<AppOptions> = {}): Promise<TestGateway> {
  return open(await kind.fresh(), options);
}

async function open(place: StorePlace, options: Partial<AppOptions>): Promise<TestGateway> {
  const app = await startApp({
    dataDir: place.dataDir,
    store: place.store,
    logLevel: process.env.HEDDLE_LOG ?? "silent",
    // What somebody has of other tools on this machine is nobody's business here.
    sessionEnv: {},
    ...(process.env.HEDDLE_TEST_PAGE && { pageDir: process.env.HEDDLE_TEST_PAGE }),
    ...options,
  });
  const { url, token, pageUrl } = await app.listen({ host: "127.0.0.1", port: 0 });
  const wires: Wire[] = [];
  const clients: Client[] = [];
  const disconnect = () => {
    for (const wire of wires) wire.close();
    for (const client of clients) client.close();
  };
  const wire = async () => {
    const made = await Wire.open(url, token);
    wires.push(made);
    return made;
  };
  const first = await wire();
  const home = (await first.result("workspace/list", {})).data[0]?.id as string;
  return {
    app,
    url,
    token,
    pageUrl,
    place,
    home,
    wire,
    client(name) {
      const client = connect(url, { token, name });
      clients.push(client);
      return client;
    },
    async restart() {
      disconnect();
      await app.stop();
      return open(place, options);
    },
    async stop() {
      disconnect();
      await app.stop();
      await place.remove();
    },
  };
}
