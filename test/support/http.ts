import { randomBytes } from "node:crypto";
import { type IncomingHttpHeaders, request as nodeRequest, type OutgoingHttpHeaders } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Answer } from "./wire.js";

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface HttpRequest {
  readonly method?: string;
  /** Sent as they are; a `host` replaces the real one, an array sends a header more than once. */
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Uint8Array;
}

/** One HTTP request with exactly these headers, over a connection of its own. */
export function http(
  url: string,
  { method = "GET", headers = {}, body }: HttpRequest = {},
): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const request = nodeRequest(url, { method, headers: { connection: "close", ...headers } }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(chunks).toString(),
        }),
      );
    });
    request.on("error", reject);
    request.end(body);
  });
}

interface Door {
  readonly url: string;
  readonly token: string;
}

export function bearer({ token }: Pick<Door, "token">): OutgoingHttpHeaders {
  return { authorization: `Bearer ${token}` };
}

/** Posts a message to /rpc: text as it is, anything else as JSON. */
export function post(door: Door, message: unknown): Promise<HttpAnswer> {
  const body =
    typeof message === "string" || message instanceof Uint8Array ? message : JSON.stringify(message);
  const headers = { ...bearer(door), "content-type": "application/json" };
  return http(`${door.url}/rpc`, { method: "POST", headers, body });
}

/** Posts one request and answers what came back for it. */
/** More notifications in one workspace than are kept: two for each save of a document. */
export async function saveOften(door: Door, workspace_id: string): Promise<void> {
  for (const round of [1, 2]) {
    const calls = Array.from({ length: 550 }, (_, id) => {
      const params = { workspace_id, content: `${round} ${id}` };
      return { jsonrpc: "2.0", id, method: "thread/agents_doc/save", params };
    });
    await post(door, calls);
  }
}

export async function postCall(door: Door, method: string, params?: unknown): Promise<Answer> {
  const { text } = await post(door, { jsonrpc: "2.0", id: 1, method, params });
  return JSON.parse(text);
}

/** Asks for a WebSocket. Answers 101, or the status it was refused with. */
export function upgrade(url: string, headers: OutgoingHttpHeaders = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const handshake = {
      connection: "Upgrade",
      upgrade: "websocket",
      "sec-websocket-version": "13",
      "sec-websocket-key": randomBytes(16).toString("base64"),
    };
    const request = nodeRequest(url, { headers: { ...handshake, ...headers } });
    request.on("error", reject);
    request.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    request.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve(response.statusCode ?? 0);
    });
    request.end();
  });
}

/** Sends bytes over a bare connection and answers all that comes back until it closes. */
export function exchangeBytes(url: string, bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url);
    const chunks: Buffer[] = [];
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => resolve(Buffer.concat(chunks).toString()));
  });
}

/** The status of an answer that came as bytes. */
export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}

/** A TCP proxy before a gateway whose connections can be cut at any moment, or refused. */
export class CuttableProxy {
  readonly url: string;
  /** While false, new connections are closed at once. */
  open = true;
  /** How many connections were made so far. */
  accepted = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  static async before(target: string): Promise<CuttableProxy> {
    const { hostname, port } = new URL(target);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const proxy = new CuttableProxy(server);
    server.on("connection", (near) => {
      proxy.accepted++;
      if (!proxy.open) return near.destroy();
      proxy.#join(near, connect(Number(port), hostname));
    });
    return proxy;
  }

  /** Cuts every connection there is, wherever in a message it may be. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): Promise<void> {
    this.open = false;
    this.cut();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }

  #join(near: Socket, far: Socket): void {
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from);
      from.pipe(to);
      from.on("error", () => {});
      from.on("close", () => {
        this.#sockets.delete(from);
        to.destroy();
      });
    }
  }
}
