import { PassThrough } from "node:stream";
import { WebSocket } from "ws";
import type { TestGateway } from "./gateway.js";
import { post } from "./http.js";

/** A way to talk to a gateway, so that what holds for every message is shown on each. */
export interface Speaker {
  readonly transport: "websocket" | "http" | "stdio";
  /** Sends a message as it is and waits for its answer. Messages are asked one after the other. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look at whatever came
  ask(message: string | Uint8Array): Promise<any>;
  /** Sends a message that must not be answered; fails when it is. */
  tell(message: string | Uint8Array): Promise<void>;
  close(): void;
}

const PING = { jsonrpc: "2.0", id: "after that", method: "ping" };

export async function speakers(gateway: TestGateway): Promise<Speaker[]> {
  return [await overWebSocket(gateway), overHttp(gateway), overStdio(gateway)];
}

export function overHttp(gateway: TestGateway): Speaker {
  const exchange = async (message: string | Uint8Array) => {
    const { status, text } = await post(gateway, message);
    if (status === 204 && text === "") return undefined;
    if (status !== 200) throw new Error(`status ${status}: ${text}`);
    return JSON.parse(text);
  };
  return {
    transport: "http",
    async ask(message) {
      const answer = await exchange(message);
      if (answer === undefined) throw new Error("there was no answer");
      return answer;
    },
    async tell(message) {
      const answer = await exchange(message);
      if (answer !== undefined) throw new Error(`it was answered: ${JSON.stringify(answer)}`);
    },
    close() {},
  };
}

export async function overWebSocket({ url, token }: TestGateway): Promise<Speaker> {
  const headers = { Authorization: `Bearer ${token}` };
  const socket = new WebSocket(`${url.replace("http", "ws")}/rpc`, { headers });
  const answers = new Answers();
  socket.on("message", (data) => answers.came(String(data)));
  socket.on("close", (code) => answers.ended(`closed with ${code}`));
  await new Promise((resolve, reject) => {
    socket.once("open", resolve);
    socket.once("error", reject);
  });
  socket.on("error", () => {});
  const send = (message: string | Uint8Array) => socket.send(message, { binary: false });
  return { transport: "websocket", ...answers.through(send), close: () => socket.terminate() };
}

export function overStdio({ app }: TestGateway): Speaker {
  const [input, output] = [new PassThrough(), new PassThrough()];
  const answers = new Answers();
  let rest = "";
  output.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) answers.came(line);
  });
  const served = app.gateway.stdio(input, output);
  served.then(
    () => answers.ended("stdio ended"),
    (error) => answers.ended(String(error)),
  );
  const send = (message: string | Uint8Array) => {
    input.write(message);
    input.write("\n");
  };
  return { transport: "stdio", ...answers.through(send), close: () => input.end() };
}

/** Answers in the order they came; notifications are left out. */
class Answers {
  readonly #came: unknown[] = [];
  #waiting: { resolve(answer: unknown): void; reject(error: Error): void } | undefined;
  #end: string | undefined;

  came(text: string): void {
    const message = JSON.parse(text);
    if (message.method !== undefined) return;
    this.#came.push(message);
    this.#hand();
  }

  ended(why: string): void {
    this.#end = why;
    this.#hand();
  }

  through(send: (message: string | Uint8Array) => void): Pick<Speaker, "ask" | "tell"> {
    const ask = (message: string | Uint8Array) => {
      send(message);
      return this.#next();
    };
    const tell = async (message: string | Uint8Array) => {
      send(message);
      const answer = (await ask(JSON.stringify(PING))) as { id?: unknown };
      if (answer.id !== PING.id) throw new Error(`it was answered: ${JSON.stringify(answer)}`);
    };
    return { ask, tell };
  }

  #next(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      this.#hand();
    });
  }

  #hand(): void {
    if (!this.#waiting) return;
    if (this.#came.length > 0) this.#waiting.resolve(this.#came.shift());
    else if (this.#end !== undefined) this.#waiting.reject(new Error(this.#end));
    else return;
    this.#waiting = undefined;
  }
}
