import type { GatewayAddress } from "../../../app/index.js";
import { answersOf, refusalOf } from "./answers.js";
import { headersOf, type RpcMessage } from "./message-headers.js";

type Place = Omit<GatewayAddress, "pid">;

interface RelayGiven {
  readonly address: { find(): Promise<Place>; lost(place: Place): void };
  /** On every request; asked for once the gateway was found. */
  headers(): Readonly<Record<string, string>>;
  write(message: unknown): void;
}

const PARSE_ERROR = -32700;
const FAILED = -32000;

/** One client's messages, each a request of its own to the gateway. It keeps nothing but what is under way. */
export class Relay {
  readonly #given: RelayGiven;
  readonly #underWay = new Map<string | number, AbortController>();
  readonly #open = new Set<Promise<void>>();
  /** What the older handshake agreed on. */
  #version: string | undefined;

  constructor(given: RelayGiven) {
    this.#given = given;
  }

  receive(line: string): void {
    if (line.trim() === "") return;
    const message = read(line);
    if (!message) this.#fail(null, "The line is no JSON-RPC message.", PARSE_ERROR);
    else if (message.method === "notifications/cancelled") this.#cancel(message.params?.requestId);
    else {
      const work = this.#handOn(message).finally(() => this.#open.delete(work));
      this.#open.add(work);
    }
  }

  /** Lets answers come for a while, and gives up the rest. */
  async end(withinMs: number): Promise<void> {
    const late = setTimeout(() => {
      for (const controller of this.#underWay.values()) controller.abort();
    }, withinMs);
    await Promise.all(this.#open);
    clearTimeout(late);
  }

  /** The gateway hears of it by the end of the connection. */
  #cancel(id: unknown): void {
    if (typeof id === "string" || typeof id === "number") this.#underWay.get(id)?.abort();
  }

  async #handOn(message: RpcMessage): Promise<void> {
    const { id } = message;
    const leaving = new AbortController();
    if (id !== undefined) this.#underWay.set(id, leaving);
    try {
      const answered = await this.#post(message, leaving.signal);
      if (!answered && id !== undefined)
        this.#fail(id, "The gateway ended its answer before it had given one.");
    } catch (error) {
      // Whoever cancels a request hears nothing more of it.
      if (id !== undefined && !leaving.signal.aborted) this.#fail(id, wordsFor(error));
    } finally {
      if (id !== undefined && this.#underWay.get(id) === leaving) this.#underWay.delete(id);
    }
  }

  /** Whether it was answered. */
  async #post(message: RpcMessage, signal: AbortSignal): Promise<boolean> {
    const response = await this.#send(message, signal);
    if (!response.ok) throw new Error(await refusalOf(response));
    let answered = false;
    for await (const answer of answersOf(response)) {
      const { id, result } = answer as { id?: unknown; result?: { protocolVersion?: unknown } };
      if (id === message.id && "id" in (answer as object)) answered = true;
      if (message.method === "initialize" && typeof result?.protocolVersion === "string")
        this.#version = result.protocolVersion;
      this.#given.write(answer);
    }
    return answered || Array.isArray(message);
  }

  /** A gateway that is gone took nothing of it: another may have it. */
  async #send(message: RpcMessage, signal: AbortSignal): Promise<Response> {
    const { address, headers } = this.#given;
    const place = await address.find();
    const init = (token: string) => ({
      method: "POST",
      headers: { ...headers(), ...headersOf(message, this.#version), Authorization: `Bearer ${token}` },
      body: JSON.stringify(message),
      signal,
    });
    try {
      return await fetch(`${place.url}/mcp`, init(place.token));
    } catch (error) {
      if (!isRefused(error)) throw error;
      address.lost(place);
      const other = await address.find();
      return fetch(`${other.url}/mcp`, init(other.token));
    }
  }

  #fail(id: string | number | null, message: string, code = FAILED): void {
    this.#given.write({ jsonrpc: "2.0", id, error: { code, message } });
  }
}

function read(line: string): RpcMessage | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function isRefused(error: unknown): boolean {
  return (error as { cause?: { code?: unknown } }).cause?.code === "ECONNREFUSED";
}

function wordsFor(error: unknown): string {
  const { message, cause } = error as Error & { cause?: { code?: unknown } };
  return typeof cause?.code === "string" ? `The gateway can't be reached (${cause.code}).` : message;
}
