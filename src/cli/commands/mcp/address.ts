import { setTimeout as delay } from "node:timers/promises";
import type { App, GatewayAddress } from "../../../app/index.js";
import { isKind } from "../../../base/index.js";
import { dataDirectory, readAddress } from "../../connect/data-dir.js";
import { heldByCommand } from "../../connect/holder.js";
import { PATIENCE_MS, RETRY_MS } from "../../connect/patience.js";
import { isFree, namedGateway } from "../../connect/reach.js";
import type { GatewayOptions } from "../../options.js";

type Place = Omit<GatewayAddress, "pid">;

/** Where the gateway is: the one that was named, the one that runs, or one of our own, which others can use meanwhile. */
export class Address {
  readonly #options: GatewayOptions;
  #finding: Promise<Place> | undefined;
  #found: Place | undefined;
  #own: App | undefined;

  constructor(options: GatewayOptions) {
    this.#options = options;
  }

  find(): Promise<Place> {
    this.#finding ??= this.#look().then(
      (place) => {
        this.#found = place;
        return place;
      },
      (error) => {
        this.#finding = undefined;
        throw error;
      },
    );
    return this.#finding;
  }

  /** Nothing listens there any more: the gateway has ended, and another may run by now, or has to. */
  lost(place: Place): void {
    if (this.#found !== place) return;
    this.#found = undefined;
    this.#finding = undefined;
  }

  async close(): Promise<void> {
    await this.#finding?.catch(() => {});
    await this.#own?.stop();
  }

  async #look(): Promise<Place> {
    const named = namedGateway(this.#options);
    if (named) return { ...named, url: named.url.replace(/^ws/, "http").replace(/\/+$/, "") };
    const dataDir = dataDirectory(this.#options.data, process.env);
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const running = isFree(dataDir) ? undefined : readAddress(dataDir);
      if (running) return running;
      try {
        return await this.#start(dataDir);
      } catch (error) {
        if (!isKind(error, "store.taken")) throw error;
        if (Date.now() > deadline) throw heldByCommand(dataDir);
      }
      await delay(RETRY_MS);
    }
  }

  async #start(dataDir: string): Promise<Place> {
    const { startApp } = await import("../../../app/index.js");
    const app = await startApp({ dataDir, logLevel: process.env.HEDDLE_LOG ?? "error" });
    this.#own = app;
    return app.listen({ host: "127.0.0.1", port: 0 });
  }
}
