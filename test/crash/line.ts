import { WebSocket } from "ws";
import type { MethodName, Params, Result, RpcError } from "../../src/protocol/index.js";

/** The connection ended before the answer came: nobody knows whether the call was carried out. */
export class Gone extends Error {}

export class Refused extends Error {
  constructor(
    readonly method: string,
    readonly error: RpcError,
  ) {
    super(`${method}: ${error.code} ${error.message} ${JSON.stringify(error.data)}`);
  }
}

/** A living gateway that leaves a call without an answer for so long will never give one. */
const PATIENCE_MS = 60_000;

interface Waiting {
  readonly method: string;
  readonly timer: NodeJS.Timeout;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever came
type Told = { readonly method: string; readonly params: any };

/** One connection of one client. A call is answered, refused, or its outcome is unknown. */
export class Line {
  /** Hears every notification, in the order they come. */
  told: (notification: Told) => void = () => {};
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, Waiting>();
  #gone = false;
  #next = 1;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => this.#take(JSON.parse(String(data))));
    socket.on("close", () => this.#end());
    socket.on("error", () => {});
  }

  static async open(url: string, token: string): Promise<Line> {
    const headers = { Authorization: `Bearer ${token}` };
    const socket = new WebSocket(`${url.replace("http", "ws")}/rpc`, { headers, maxPayload: 0 });
    const line = new Line(socket);
    await new Promise<void>((resolve, reject) => {
      socket.once("open", () => resolve());
      socket.once("close", () => reject(new Gone("no connection")));
    });
    return line;
  }

  get gone(): boolean {
    return this.#gone;
  }

  call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    if (this.#gone) return Promise.reject(new Gone(method));
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const late = () => reject(new Error(`stuck: ${method} ${JSON.stringify(params)} got no answer`));
      const timer = setTimeout(late, PATIENCE_MS);
      this.#waiting.set(id, { method, timer, resolve: resolve as (result: unknown) => void, reject });
      this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    });
  }

  close(): void {
    this.#end();
    this.#socket.terminate();
  }

  #take(message: {
    id?: number;
    method?: string;
    params?: unknown;
    result?: unknown;
    error?: RpcError;
  }): void {
    if (this.#gone) return;
    if (message.method !== undefined) {
      this.told(message as Told);
      return;
    }
    const waiting = this.#waiting.get(message.id as number);
    if (!waiting) return;
    this.#waiting.delete(message.id as number);
    clearTimeout(waiting.timer);
    if (message.error) waiting.reject(new Refused(waiting.method, message.error));
    else waiting.resolve(message.result);
  }

  #end(): void {
    this.#gone = true;
    for (const { method, timer, reject } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Gone(method));
    }
    this.#waiting.clear();
  }
}
