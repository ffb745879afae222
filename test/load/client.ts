import { once } from "node:events";
import { WebSocket } from "ws";

export interface Door {
  readonly url: string;
  readonly token: string;
}

export interface Answer {
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number; message: string; data: { kind: string; retry_after_ms?: number } };
}

/** Changes what comes in before anybody looks at it. Undefined: it is lost. */
export type Tamper = (text: Buffer) => Buffer | undefined;

const METHOD = '{"jsonrpc":"2.0","method":"';
const ID = '{"jsonrpc":"2.0","id":';
const LIVE = ["run/delta", "run/tool", "agent/changed"];
const TOLD = ["message/appended", "run/changed"] as const;
const SEQ = /"seq":(\d+)\}\}$/;
const SEQ_CHARS = 32;
const PROBLEMS_KEPT = 5;

/**
 * One connected client that keeps account of what it hears and looks at as little of it as it can: a thousand of them
 * must cost less than the gateway.
 */
export class LoadClient {
  /** The number of the last durable notification, and how many came since it began to follow. */
  last = 0;
  heard = 0;
  readonly counts: Record<(typeof TOLD)[number], number> = { "message/appended": 0, "run/changed": 0 };
  /** Characters of answers while they are being said. */
  liveChars = 0;
  /** What should not have come, or not then. */
  readonly problems: string[] = [];
  closed: { readonly code: number; readonly reason: string } | undefined;
  /** Hears of every run that changes. */
  onRun: ((text: string) => void) | undefined;
  onWords: (() => void) | undefined;
  readonly socket: WebSocket;
  readonly #tamper: Tamper | undefined;
  readonly #pending = new Map<number, (answer: Answer) => void>();
  #following = false;
  #id = 0;

  static async open({ url, token }: Door, tamper?: Tamper): Promise<LoadClient> {
    const socket = new WebSocket(`${url.replace("http", "ws")}/rpc`, {
      headers: { Authorization: `Bearer ${token}` },
      perMessageDeflate: false,
      skipUTF8Validation: true,
      maxPayload: 0,
    });
    await once(socket, "open");
    return new LoadClient(socket, tamper);
  }

  private constructor(socket: WebSocket, tamper: Tamper | undefined) {
    this.socket = socket;
    this.#tamper = tamper;
    socket.on("message", (data) => this.#received(data as Buffer));
    socket.on("error", () => {});
    socket.on("close", (code, reason) => this.#ended(code, String(reason)));
  }

  call(method: string, params: object): Promise<Answer> {
    if (this.closed) return Promise.reject(new Error(`${method}: the connection was closed`));
    const id = ++this.#id;
    this.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return new Promise((resolve) => this.#pending.set(id, resolve));
  }

  async result<T>(method: string, params: object): Promise<T> {
    const { result, error } = await this.call(method, params);
    if (error) throw new Error(`${method}: ${error.code} ${error.message}`);
    return result as T;
  }

  /** From a number on it must hear of everything, once and in order. */
  async follow(workspace_id: string, after_seq: number): Promise<{ seq: number; resync: boolean }> {
    this.last = after_seq;
    this.#following = true;
    return this.result("subscribe", { workspace_id, after_seq });
  }

  close(): void {
    this.socket.terminate();
  }

  #received(came: Buffer): void {
    const data = this.#tamper ? this.#tamper(came) : came;
    if (data === undefined) return;
    if (data.toString("latin1", 0, METHOD.length) === METHOD) this.#told(data);
    else if (data.toString("latin1", 0, ID.length) === ID) this.#answered(data);
    else this.#problem(`it got ${data.toString("utf8", 0, 200)}`);
  }

  #answered(data: Buffer): void {
    const { id, ...answer } = JSON.parse(data.toString()) as Answer & { id: number };
    this.#pending.get(id)?.(answer);
    this.#pending.delete(id);
  }

  #told(data: Buffer): void {
    const method = data.toString("latin1", METHOD.length, data.indexOf('"', METHOD.length));
    if (LIVE.includes(method)) {
      if (method === "run/delta") this.#words(data);
      return;
    }
    const seq = Number(SEQ.exec(data.toString("latin1", Math.max(0, data.length - SEQ_CHARS)))?.[1]);
    if (!this.#following) return;
    if (seq !== this.last + 1) this.#problem(`after ${this.last} came ${seq}, ${method}`);
    this.last = seq;
    this.heard++;
    if (method === "message/appended" || method === "run/changed") this.counts[method]++;
    if (method === "run/changed") this.onRun?.(data.toString());
  }

  #words(data: Buffer): void {
    const { params } = JSON.parse(data.toString()) as { params: { kind: string; text: string } };
    if (params.kind !== "text") return;
    this.liveChars += params.text.length;
    this.onWords?.();
  }

  #problem(what: string): void {
    if (this.problems.length < PROBLEMS_KEPT) this.problems.push(what);
  }

  #ended(code: number, reason: string): void {
    this.closed = { code, reason };
    for (const answered of this.#pending.values()) {
      answered({ error: { code, message: `closed: ${reason}`, data: { kind: "closed" } } });
    }
    this.#pending.clear();
  }
}
