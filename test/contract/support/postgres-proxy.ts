import { createConnection, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { temporaryDirectory } from "../../support/stores.js";

/** Stands between a store and its PostgreSQL, to lose what a network can lose. */
export class PostgresProxy {
  readonly location: string;
  readonly #target: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #refusing = false;
  #losing: string | undefined;
  #swallowing: { readonly behind: string; readonly statement: string; left: number } | undefined;

  private constructor(location: string, directory: string) {
    const url = new URL(location);
    this.#target = socketIn(url.searchParams.get("host") ?? "");
    url.searchParams.set("host", directory);
    this.location = url.href;
    this.#server = createServer((client) => this.#serve(client));
  }

  static async start(location: string): Promise<PostgresProxy> {
    const directory = temporaryDirectory();
    const proxy = new PostgresProxy(location, directory);
    await new Promise<void>((ready) => proxy.#server.listen(socketIn(directory), ready));
    return proxy;
  }

  /** Cuts every connection, and lets no new one through until `restore`. */
  cut(): void {
    this.#refusing = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  restore(): void {
    this.#refusing = false;
  }

  /** The next time a statement passes, the server gets it and the connection is cut before its answer comes back. */
  loseAnswerTo(statement: string): void {
    this.#losing = `${statement}\0`;
  }

  /**
   * The server gets a statement on so many connections on which a text passed before, and its answers do not come back. With
   * the last of them every connection is cut, and no new one let through until `restore`.
   */
  loseAnswersBehind(behind: string, statement: string, count: number): void {
    this.#swallowing = { behind, statement: `${statement}\0`, left: count };
  }

  async stop(): Promise<void> {
    this.cut();
    await new Promise((done) => this.#server.close(done));
  }

  #swallow(): void {
    const swallowing = this.#swallowing;
    if (!swallowing) return;
    swallowing.left -= 1;
    if (swallowing.left > 0) return;
    this.#swallowing = undefined;
    this.cut();
  }

  /** Whether nobody is let through. */
  get isCut(): boolean {
    return this.#refusing;
  }

  #serve(client: Socket): void {
    if (this.#refusing) {
      client.destroy();
      return;
    }
    const upstream = createConnection(this.#target);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.#sockets.add(from);
      from.on("error", () => {});
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
    let lost = false;
    let isMeant = false;
    let swallowed = false;
    client.on("data", (chunk) => {
      const swallowing = this.#swallowing;
      isMeant ||= swallowing !== undefined && chunk.includes(swallowing.behind);
      swallowed ||= isMeant && swallowing !== undefined && chunk.includes(swallowing.statement);
      if (this.#losing !== undefined && chunk.includes(this.#losing)) {
        this.#losing = undefined;
        lost = true;
      }
      upstream.write(chunk);
    });
    upstream.on("data", (chunk) => {
      if (swallowed) this.#swallow();
      else if (lost) client.destroy();
      else client.write(chunk);
    });
  }
}

function socketIn(directory: string): string {
  return join(directory, ".s.PGSQL.5432");
}
