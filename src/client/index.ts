import { Client, type ClientOptions } from "./client.js";
import { rpcUrl, socketTransport } from "./transport.js";

export { type CallOptions, Client, type ClientOptions, type ClientState } from "./client.js";
export { CallError, NoAnswerError } from "./errors.js";
export {
  type OpenTransport,
  rpcUrl,
  socketTransport,
  type Transport,
  type TransportEvents,
} from "./transport.js";

interface BrowserSocket {
  WebSocket: new (url: string) => unknown;
}

/** Connects from a browser; the page's session cookie lets it in. */
export function connect(url: string, options: Omit<ClientOptions, "open"> = {}): Client {
  const { WebSocket } = globalThis as unknown as BrowserSocket;
  return new Client({ ...options, open: socketTransport(() => new WebSocket(rpcUrl(url))) });
}
