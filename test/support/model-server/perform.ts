import { existsSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { fragments } from "../../../src/providers/index.js";
import type { Gates } from "./gates.js";
import type { Protocol } from "./protocols.js";
import { voiceOf } from "./protocols.js";
import type { ServerStep, ServerTurn } from "./script.js";
import type { Frame, Reason, SpokenUsage, Voice } from "./voices/voice.js";

/** Plays one turn into a response, and stops when nobody is listening any more. */
export async function perform(
  turn: ServerTurn,
  protocol: Protocol,
  response: ServerResponse,
  gates: Gates,
): Promise<void> {
  const stage = new Stage(turn, protocol, response, gates);
  for (const step of turn.steps) {
    if (stage.over) return;
    await stage.play(step);
  }
  if (!stage.over) await stage.finish();
}

class Stage {
  over = false;
  readonly #voice: Voice;
  readonly #style: NonNullable<ServerTurn["style"]>;
  readonly #response: ServerResponse;
  readonly #usage: SpokenUsage | undefined;
  readonly #closed: Promise<void>;
  readonly #gates: Gates;
  #headers: Record<string, string> = { "content-type": "text/event-stream; charset=utf-8" };
  #reason: Reason | undefined;
  #called = false;

  constructor({ steps, style = {} }: ServerTurn, protocol: Protocol, response: ServerResponse, gates: Gates) {
    this.#gates = gates;
    this.#usage = steps.find((step) => "usage" in step)?.usage;
    this.#voice = voiceOf(protocol, this.#usage);
    this.#style = style;
    this.#response = response;
    this.#closed = new Promise((done) => {
      response.on("close", () => {
        this.over = true;
        done();
      });
    });
  }

  async play(step: ServerStep): Promise<void> {
    const speak = (frames: Frame[]) => this.#frames(frames);
    if ("text" in step) for (const text of fragments(step.text)) await speak(this.#voice.text(text));
    else if ("thinking" in step) await speak(this.#voice.thinking(fragments(step.thinking), step.signature));
    else if ("tool_call" in step) await this.#call(step.tool_call);
    else if ("finish" in step) this.#reason = step.finish;
    else if ("event" in step) await speak([{ data: step.event, ...(step.name ? { name: step.name } : {}) }]);
    else if ("error" in step) await speak(this.#voice.error(step.error));
    else if ("again" in step) await this.#ending();
    else await this.#misbehave(step);
  }

  async finish(): Promise<void> {
    await this.#ending();
    this.#response.end();
    this.over = true;
  }

  async #misbehave(step: ServerStep): Promise<void> {
    if ("delay_ms" in step) await sleep(step.delay_ms);
    else if ("gate" in step) await Promise.race([this.#gates.wait(step.gate), this.#closed]);
    else if ("while_there" in step) await this.#whileThere(step.while_there);
    else if ("raw" in step) await this.#write(step.raw);
    else if ("drip" in step) await this.#drip(step.drip, step.every_ms);
    else if ("status" in step) this.#refuse(step);
    else if ("headers" in step) this.#headers = { ...this.#headers, ...step.headers };
    else if ("hang" in step) await this.#closed;
    else if ("cut" in step) await this.#cut();
    else if ("end" in step) this.#response.end();
    if ("cut" in step || "end" in step) this.over = true;
  }

  async #whileThere(file: string): Promise<void> {
    while (existsSync(file) && !this.over) await sleep(5);
  }

  /** What was written before has left: only the rest is missing. */
  async #cut(): Promise<void> {
    if (this.#response.headersSent) await new Promise((done) => this.#response.write("", done));
    this.#response.destroy();
  }

  #refuse({ status, headers = {}, body = "" }: Extract<ServerStep, { status: number }>): void {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const type = typeof body === "string" ? "text/plain" : "application/json";
    this.#response.writeHead(status, { "content-type": type, ...headers }).end(text);
    this.over = true;
  }

  async #call({ id, name, arguments: given, signature }: CallStep): Promise<void> {
    this.#called = true;
    await this.#frames(this.#voice.toolCall({ id, name, fragments: fragments(given), signature }));
  }

  #ending(): Promise<void> {
    const reason = this.#reason ?? (this.#called ? "tool_calls" : "stop");
    return this.#frames(this.#voice.end(reason, this.#usage));
  }

  async #drip(text: string, everyMs: number): Promise<void> {
    for (const byte of Buffer.from(text)) {
      if (this.over) return;
      await this.#write(Buffer.from([byte]));
      await sleep(everyMs);
    }
  }

  async #frames(frames: readonly Frame[]): Promise<void> {
    await this.#open();
    for (const frame of frames) await this.#write(this.#sse(frame));
  }

  #sse({ name, data }: Frame): string {
    const end = this.#style.line_end ?? "\n";
    const text = typeof data === "string" ? data : JSON.stringify(data);
    return `${name ? `event: ${name}${end}` : ""}data: ${text}${end}${end}`;
  }

  async #open(): Promise<void> {
    if (this.#response.headersSent) return;
    if (this.#style.until_close) this.#response.useChunkedEncodingByDefault = false;
    this.#response.writeHead(200, this.#headers);
    if (this.#style.bom) await this.#write("\uFEFF");
    for (const frame of this.#voice.begin()) await this.#write(this.#sse(frame));
  }

  /** Waits for a reader that does not keep up, as real servers do. */
  async #write(text: string | Buffer): Promise<void> {
    if (!this.#response.headersSent) this.#response.writeHead(200, this.#headers);
    const bytes = Buffer.from(text as string);
    const size = this.#style.piece_bytes ?? bytes.length;
    for (let at = 0; at < bytes.length && !this.over; at += size) {
      if (!this.#response.write(bytes.subarray(at, at + size)))
        await Promise.race([new Promise((done) => this.#response.once("drain", done)), this.#closed]);
    }
  }
}

type CallStep = Extract<ServerStep, { tool_call: unknown }>["tool_call"];
