import { isDeepStrictEqual } from "node:util";
import { WebSocket } from "ws";
import {
  type MethodName,
  methods,
  type NotificationName,
  type NotificationParams,
  notifications,
  type Params,
  type Result,
  type RpcError,
} from "../../src/protocol/index.js";

export interface Notification {
  readonly method: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came
  readonly params: any;
}

export interface Answer {
  readonly jsonrpc: string;
  readonly id: number | string | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came
  readonly result?: any;
  readonly error?: RpcError;
}

/** A bare WebSocket on the public wire. What comes must fit the published schemas to the letter, unknown keys included. */
export class Wire {
  /** Everything that came, in order. */
  readonly received: (Answer | Notification)[] = [];
  closeCode: number | undefined;
  closeReason = "";
  readonly socket: WebSocket;
  readonly #methods = new Map<number | string, MethodName>();
  readonly #watchers = new Set<() => void>();
  #nextId = 1;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    // Many may wait for what comes.
    socket.setMaxListeners(0);
    socket.on("message", (data) => {
      const message = JSON.parse(String(data));
      for (const each of Array.isArray(message) ? message : [message]) this.#check(each);
      this.received.push(message);
      this.#wake();
    });
    socket.on("error", () => {});
    socket.on("close", (code, reason) => {
      this.closeCode = code;
      this.closeReason = String(reason);
      this.#wake();
    });
  }

  static async open(url: string, token: string): Promise<Wire> {
    const headers = { Authorization: `Bearer ${token}` };
    const socket = new WebSocket(`${url.replace("http", "ws")}/rpc`, { headers, maxPayload: 0 });
    const wire = new Wire(socket);
    await new Promise((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    return wire;
  }

  /** Sends text as it is. */
  send(text: string): void {
    this.socket.send(text);
  }

  /** Makes a call and answers whatever comes back for it. */
  async call(method: string, params?: unknown, id: number | string = this.#nextId++): Promise<Answer> {
    this.#methods.set(id, method as MethodName);
    this.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return this.answerTo(id);
  }

  /** Makes a call that must succeed. */
  async result<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    const { result, error } = await this.call(method, params);
    if (error) throw new Error(`${method}: ${error.code} ${error.message} ${JSON.stringify(error.data)}`);
    return result;
  }

  /** Makes a call that must be refused. */
  async error(method: string, params?: unknown): Promise<RpcError> {
    const { error, result } = await this.call(method, params);
    if (!error) throw new Error(`${method} was not refused: ${JSON.stringify(result)}`);
    return error;
  }

  answerTo(id: number | string | null): Promise<Answer> {
    return this.#until(() =>
      this.received.find((message): message is Answer => "id" in message && message.id === id),
    );
  }

  /** Notifications that came, of one kind or of all. */
  notifications(): Notification[];
  notifications<N extends NotificationName>(method: N): { method: N; params: NotificationParams<N> }[];
  notifications(method?: string): Notification[] {
    return this.received.filter(
      (message): message is Notification => "method" in message && (!method || message.method === method),
    );
  }

  /** Waits until so many notifications came. */
  async heard(count: number): Promise<Notification[]> {
    await this.#until(() => this.notifications().length >= count || undefined);
    return this.notifications();
  }

  /** Waits until everything that was caused so far has arrived: a round trip, and whatever was queued before it. */
  async settled(): Promise<Notification[]> {
    await this.call("ping");
    return this.notifications();
  }

  async closed(): Promise<number> {
    return this.#until(() => this.closeCode);
  }

  close(): void {
    this.socket.terminate();
  }

  #check(message: Answer & Partial<Notification>): void {
    if (message.method !== undefined) {
      const schema = notifications[message.method as NotificationName];
      if (!schema) throw new Error(`unknown notification ${message.method}`);
      assertFits(`notification ${message.method}`, schema, message.params);
    } else if (message.error) {
      const { code, message: text, data } = message.error;
      if (typeof code !== "number" || !text || typeof data?.kind !== "string") {
        throw new Error(`malformed error ${JSON.stringify(message.error)}`);
      }
    } else {
      const method = this.#methods.get(message.id as number);
      if (method) assertFits(`result of ${method}`, methods[method].result, message.result);
    }
  }

  #until<T>(look: () => T | undefined, withinMs = 45_000): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => end(() => reject(new Error("waited in vain"))), withinMs);
      const end = (settle: () => void) => {
        clearTimeout(timer);
        this.#watchers.delete(watch);
        settle();
      };
      const watch = () => {
        const found = look();
        if (found !== undefined) end(() => resolve(found));
      };
      this.#watchers.add(watch);
      watch();
    });
  }

  #wake(): void {
    for (const watch of [...this.#watchers]) watch();
  }
}

interface Schema {
  safeParse(value: unknown): { success: boolean; data?: unknown; error?: { message: string } };
}

export function assertFits(what: string, schema: Schema, value: unknown): void {
  const parsed = schema.safeParse(value);
  if (!parsed.success) throw new Error(`${what} does not fit its schema: ${parsed.error?.message}`);
  if (!isDeepStrictEqual(parsed.data, value)) {
    throw new Error(`${what} has fields its schema does not declare: ${JSON.stringify(value)}`);
  }
}
