import type { IncomingMessage, Server } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { Connection, type ConnectionDeps } from "../connection.js";
import type { Sink } from "../outbox.js";
import type { BoundThread } from "../rpc/peer.js";
import type { Auth } from "./auth.js";
import { isForeign } from "./origin.js";

const PING_MS = 30_000;
/** How long a dropped client may take to read why. */
const CLOSE_GRACE_MS = 2_000;

export interface WebSocketDeps extends ConnectionDeps {
  readonly auth: Auth;
  readonly host: string;
}

/** The WebSocket at `/rpc`: one message a frame. */
export class WebSockets {
  readonly #deps: WebSocketDeps;
  readonly #server: WebSocketServer;
  readonly #connections = new Map<WebSocket, Connection>();
  readonly #pings: NodeJS.Timeout;
  readonly #silent = new WeakSet<WebSocket>();

  constructor(http: Server, deps: WebSocketDeps) {
    this.#deps = deps;
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: deps.limits.messageBytes,
      perMessageDeflate: false,
      clientTracking: false,
    });
    http.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
    this.#pings = setInterval(() => this.#ping(), PING_MS).unref();
  }

  /** Ends the pings; the connections themselves are closed by the gateway. */
  stop(): void {
    clearInterval(this.#pings);
  }

  terminate(): void {
    for (const ws of this.#connections.keys()) ws.terminate();
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on("error", () => socket.destroy());
    const admitted = this.#deps.auth.admit(request.headers);
    const refusal = this.#refusal(request, admitted !== undefined);
    if (!admitted || refusal) {
      // The server's sockets may stay half open: without this, whoever was refused could keep one for good.
      socket.once("finish", () => socket.destroy());
      socket.end(`HTTP/1.1 ${refusal}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    } else {
      this.#server.handleUpgrade(request, socket, head, (ws) => this.#accept(ws, socket, admitted.bound));
    }
  }

  #refusal({ headers, url }: IncomingMessage, admitted: boolean): string | undefined {
    const { host, limits, stopping } = this.#deps;
    if (isForeign(headers.host, headers.origin, host)) return "403 Forbidden";
    if (url?.split("?")[0] !== "/rpc") return "404 Not Found";
    if (!admitted) return "401 Unauthorized";
    const full = this.#connections.size >= limits.connections;
    return stopping() || full ? "503 Service Unavailable" : undefined;
  }

  #accept(ws: WebSocket, socket: Duplex, bound: BoundThread | undefined): void {
    const connection = new Connection(this.#deps, sinkOf(ws, socket), bound);
    this.#connections.set(ws, connection);
    ws.on("message", (data, binary) => {
      this.#silent.delete(ws);
      if (binary) return connection.close(1003, "messages must be text");
      connection.receive(data.toString());
      const ready = ws.isPaused ? undefined : connection.ready();
      if (!ready) return;
      ws.pause();
      void ready.then(() => ws.resume());
    });
    ws.on("pong", () => this.#silent.delete(ws));
    // A frame that breaks the protocol or the size limit: ws closes with the code that says so (1002, 1007, 1009).
    ws.on("error", (error) => this.#deps.log.info({ err: error }, "a connection failed"));
    ws.on("close", () => {
      this.#connections.delete(ws);
      connection.closed();
    });
  }

  /** A peer that did not answer the ping before this one is gone, even if its socket does not know it yet. */
  #ping(): void {
    for (const ws of this.#connections.keys()) {
      if (this.#silent.has(ws)) {
        ws.terminate();
        continue;
      }
      this.#silent.add(ws);
      ws.ping();
    }
  }
}

/** What is sent in one go goes out in one write: a change is several notifications, and each write is a call to the kernel. */
function sinkOf(ws: WebSocket, socket: Duplex): Sink {
  let corked = false;
  const uncork = () => {
    corked = false;
    socket.uncork();
  };
  return {
    send(text, sent) {
      if (!corked) {
        corked = true;
        socket.cork();
        process.nextTick(uncork);
      }
      ws.send(text, sent);
    },
    close(code, reason) {
      ws.close(code, reason);
      setTimeout(() => ws.terminate(), CLOSE_GRACE_MS).unref();
    },
  };
}
