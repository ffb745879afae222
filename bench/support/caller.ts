import { once } from "node:events";
import { WebSocket } from "ws";
import type { MethodName, Params, Result } from "../../src/protocol/index.js";
import type { Bench } from "../harness.js";

const ANSWER = '{"jsonrpc":"2.0","id":';
const FAILURE = /^\{"jsonrpc":"2\.0","id":[^,]*,"error":/;

/** One connection with one request under way at a time, and as little around it as can be. */
export class Caller {
  /** Hears whatever is not an answer. */
  onNotification: (text: string) => void = () => {};
  readonly #socket: WebSocket;
  readonly #isAnswer: (text: string) => boolean;
  #answered: ((text: string) => void) | undefined;
  #id = 0;

  /** Without a token the other end is the bare server: whatever comes while a message is under way is its answer. */
  static async open(bench: Bench, url: string, token?: string): Promise<Caller> {
    const headers = token === undefined ? {} : { Authorization: `Bearer ${token}` };
    const address = `${url.replace("http", "ws")}/rpc`;
    const socket = new WebSocket(address, { headers, perMessageDeflate: false, maxPayload: 0 });
    await once(socket, "open");
    bench.onEnd(() => socket.terminate());
    return new Caller(socket, token === undefined);
  }

  private constructor(socket: WebSocket, bare: boolean) {
    this.#socket = socket;
    this.#isAnswer = bare ? () => this.#answered !== undefined : (text) => text.startsWith(ANSWER);
    socket.on("message", (data) => this.#received(data.toString()));
    // A connection that breaks while a benchmark runs would make it wait for ever.
    socket.on("close", (code) => this.#answered?.(`closed with ${code}`));
  }

  /** Sends a text and answers the text that comes back. */
  exchange(text: string): Promise<string> {
    return new Promise((resolve) => {
      this.#answered = resolve;
      this.#socket.send(text);
    });
  }

  /** A call that must succeed; answers the text of its answer. */
  async call<M extends MethodName>(method: M, params: Params<M>): Promise<string> {
    const text = JSON.stringify({ jsonrpc: "2.0", id: ++this.#id, method, params });
    const answer = await this.exchange(text);
    if (!answer.startsWith(ANSWER) || FAILURE.test(answer)) throw new Error(`${method}: ${answer}`);
    return answer;
  }

  /** The same, when it is the answer that counts and not the time it takes. */
  async ask<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
    return JSON.parse(await this.call(method, params)).result;
  }

  #received(text: string): void {
    if (!this.#isAnswer(text)) {
      this.onNotification(text);
      return;
    }
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.(text);
  }
}
