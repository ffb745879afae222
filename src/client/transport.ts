/** What a transport tells the client. */
export interface TransportEvents {
  open(): void;
  message(text: string): void;
  /** The connection ended, or could not be made. Told once. */
  closed(why: string): void;
}

export interface Transport {
  send(text: string): void;
  close(): void;
}

/** Opens a connection. The client calls it again after each loss. */
export type OpenTransport = (events: TransportEvents) => Transport;

interface SocketLike {
  onopen: ((event: never) => void) | null;
  onmessage: ((event: { data: unknown }) => void) | null;
  onclose: ((event: { code: number; reason: string }) => void) | null;
  onerror: ((event: never) => void) | null;
  send(text: string): void;
  close(): void;
}

/** A WebSocket as a transport: the browser's own or one that looks like it. */
export function socketTransport(open: () => unknown): OpenTransport {
  return (events) => {
    const socket = open() as SocketLike;
    let told = false;
    const closed = (why: string) => {
      if (told) return;
      told = true;
      events.closed(why);
    };
    socket.onopen = () => events.open();
    socket.onmessage = ({ data }) => events.message(String(data));
    socket.onclose = ({ code, reason }) => closed(reason || `the connection closed (${code})`);
    socket.onerror = (event: { message?: string }) => closed(event.message || "the connection failed");
    return { send: (text) => socket.send(text), close: () => socket.close() };
  };
}

/** `http://host` and `ws://host` both name a gateway; its WebSocket is at `/rpc`. */
export function rpcUrl(url: string): string {
  return `${url.replace(/^http/, "ws").replace(/\/+$/, "")}/rpc`;
}
