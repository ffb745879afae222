import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Agent, request } from "undici";
import { WebSocket } from "ws";
import type { Bench } from "../harness.js";
import { Child, type GatewayProcess, startGateway } from "./child.js";

export const AGENT = "fake";
/** Characters of a question and of an answer, and in how many pieces the answer comes. */
export const QUESTION = 512;
export const ANSWER = 512;
const PIECES = 8;
/** More than any thread here holds: nothing of it is left out. */
const WINDOW = 100_000_000;

/** A model that answers at once, or after a while, in a process of its own. Answers where it is asked. */
export async function startFakeModel(bench: Bench, thinksMs = 0): Promise<string> {
  const script = fileURLToPath(new URL("fake-model.mjs", import.meta.url));
  const child = new Child(bench, [script, ...[ANSWER, PIECES, thinksMs].map(String)]);
  return `http://127.0.0.1:${await child.firstLine()}/v1`;
}

export interface AskingOptions {
  readonly agent?: object;
  readonly config?: object;
}

/** A gateway whose only agent asks the fake model. */
export async function startAsking(
  bench: Bench,
  dataDir: string,
  model: string,
  more: AskingOptions = {},
): Promise<GatewayProcess> {
  const config = { baseURL: model, apiKey: "not-a-key" };
  const chat = { provider: "openai-compatible", model: "m", contextWindow: WINDOW, config };
  const agents = [{ agentId: AGENT, systemPrompt: "You are brief.", chat, ...more.agent }];
  writeFileSync(join(dataDir, "heddle.config.json"), JSON.stringify({ agents, ...more.config }));
  return startGateway(bench, dataDir);
}

/** Asks the model itself, as a program without a gateway would: it holds the messages and writes them out for each call. */
export class DirectCaller {
  readonly #url: string;
  readonly #agent = new Agent({ keepAliveTimeout: 60_000 });

  constructor(bench: Bench, model: string) {
    this.#url = `${model}/chat/completions`;
    bench.onEnd(() => this.#agent.destroy());
  }

  /** Asks and reads all of the answer. Resolves with the milliseconds until its first words. */
  async ask(messages: readonly { role: string; content: string }[]): Promise<number> {
    const started = performance.now();
    const body = JSON.stringify({
      model: "m",
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    const headers = { "content-type": "application/json", authorization: "Bearer not-a-key" };
    const answer = await request(this.#url, { method: "POST", body, headers, dispatcher: this.#agent });
    let first: number | undefined;
    for await (const chunk of answer.body)
      if (first === undefined && chunk.includes('"content":"S')) first = performance.now() - started;
    if (first === undefined) throw new Error(`the model said nothing: ${answer.statusCode}`);
    return first;
  }
}

interface UnderWay {
  readonly started: number;
  firstWords: number | undefined;
  readonly ended: (turn: Turn) => void;
  readonly failed: (error: Error) => void;
}

export interface Turn {
  /** Milliseconds from sending the question until the first words of the answer are here. */
  readonly firstWords: number;
  /** Until it is known here that the run is completed. */
  readonly whole: number;
}

const ANSWERED = /^\{"jsonrpc":"2\.0","id":(\d+),"(result|error)":/;
const THREAD = /"thread_id":"([^"]+)"/;
const DELTA = '{"jsonrpc":"2.0","method":"run/delta"';
const CHANGED = '{"jsonrpc":"2.0","method":"run/changed"';
const ENDED = /"status":"(completed|failed|cancelled|interrupted)"/;

/** One connection that has turns in many threads at once, one at a time in each. */
export class TurnTaker {
  readonly #socket: WebSocket;
  readonly #turns = new Map<string, UnderWay>();
  readonly #calls = new Map<number, (text: string) => void>();
  #id = 0;

  static async open(bench: Bench, { url, token }: GatewayProcess): Promise<TurnTaker> {
    const headers = { Authorization: `Bearer ${token}` };
    const socket = new WebSocket(`${url.replace("http", "ws")}/rpc`, { headers, perMessageDeflate: false });
    await once(socket, "open");
    bench.onEnd(() => socket.terminate());
    return new TurnTaker(socket);
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => this.#received(data.toString()));
    socket.on("close", (code) => this.#fail(new Error(`the connection was closed with ${code}`)));
  }

  /** From now on it hears what is said in a thread while it is said. */
  async follow(workspace_id: string, thread_id: string): Promise<void> {
    const text = await new Promise<string>((resolve) => {
      this.#calls.set(++this.#id, resolve);
      this.#send("subscribe", { workspace_id, thread_id });
    });
    if (text.includes('"error"')) throw new Error(text);
  }

  take(workspace_id: string, thread_id: string, content: string): Promise<Turn> {
    return new Promise((ended, failed) => {
      this.#id++;
      this.#turns.set(thread_id, { started: performance.now(), firstWords: undefined, ended, failed });
      this.#send("run/start", { workspace_id, thread_id, content });
    });
  }

  #send(method: string, params: object): void {
    this.#socket.send(JSON.stringify({ jsonrpc: "2.0", id: this.#id, method, params }));
  }

  #received(text: string): void {
    const now = performance.now();
    if (text.startsWith(DELTA)) {
      const turn = this.#turns.get(THREAD.exec(text)?.[1] ?? "");
      if (turn) turn.firstWords ??= now - turn.started;
    } else if (text.startsWith(CHANGED)) this.#changed(text, now);
    else this.#answered(text);
  }

  #changed(text: string, now: number): void {
    const status = ENDED.exec(text)?.[1];
    const thread_id = THREAD.exec(text)?.[1] ?? "";
    const turn = this.#turns.get(thread_id);
    if (status === undefined || !turn) return;
    this.#turns.delete(thread_id);
    if (status !== "completed" || turn.firstWords === undefined) turn.failed(new Error(text));
    else turn.ended({ firstWords: turn.firstWords, whole: now - turn.started });
  }

  #answered(text: string): void {
    const [, id, kind] = ANSWERED.exec(text) ?? [];
    if (id === undefined) return;
    const call = this.#calls.get(Number(id));
    this.#calls.delete(Number(id));
    if (call) call(text);
    else if (kind === "error") this.#fail(new Error(text));
  }

  #fail(error: Error): void {
    for (const { failed } of this.#turns.values()) failed(error);
    this.#turns.clear();
  }
}
