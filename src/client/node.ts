import type { Readable, Writable } from "node:stream";
import { WebSocket } from "ws";
import { Client, type ClientOptions } from "./client.js";
import { eachLine } from "./lines.js";
import { type OpenTransport, rpcUrl, socketTransport } from "./transport.js";

export { type CallOptions, Client, type ClientOptions, type ClientState } from "./client.js";
export { CallError, NoAnswerError } from "./errors.js";
export { eachLine } from "./lines.js";
export type { OpenTransport, Transport, TransportEvents } from "./transport.js";

export interface ConnectOptions extends Omit<ClientOptions, "open"> {
  readonly token: string;
}

/** Connects to a gateway by its address and token. */
export function connect(url: string, { token, ...options }: ConnectOptions): Client {
  const headers = { Authorization: `Bearer ${token}` };
  const open = () =>
    new WebSocket(rpcUrl(url), { headers, maxPayload: 256 * 1024 * 1024, perMessageDeflate: false });
  return new Client({ ...options, open: socketTransport(open) });
}

/** Talks to `heddle serve --stdio` over its streams, a message a line. Such a connection can't be made again. */
export function stdioTransport(input: Readable, output: Writable): OpenTransport {
  return (events) => {
    const close = eachLine(
      input,
      (text) => events.message(text),
      () => events.closed("the gateway's output ended"),
    );
    output.on("error", close);
    queueMicrotask(() => events.open());
    return { send: (text) => void output.write(`${text}\n`), close: () => output.end() };
  };
}
