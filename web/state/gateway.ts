import { create } from "zustand";
import { connect } from "../../src/client/index.js";
import type { MethodName, Params, Result } from "../../src/protocol/index.js";

/** The one connection of this window. It reconnects by itself and asks for what it missed. */
export const client = connect(location.origin, { name: "page" });

/** `signed_out`: the gateway is there, but this browser has no session: only the printed address can give it one. */
export type Link = "connecting" | "open" | "offline" | "signed_out";

interface LinkState {
  readonly link: Link;
  /** When the gateway was last heard of; undefined: never. */
  readonly lostAt: number | undefined;
}

export const useLink = create<LinkState>()(() => ({ link: "connecting", lostAt: undefined }));

/** A blink of the connection is nobody's business: only what lasts is shown. */
const PATIENCE_MS = 400;
let patience: ReturnType<typeof setTimeout> | undefined;

client.onState((state) => {
  clearTimeout(patience);
  if (state === "open") useLink.setState({ link: "open", lostAt: undefined });
  else patience = setTimeout(() => void lost(), PATIENCE_MS);
});
patience = setTimeout(() => void lost(), 2_000);

async function lost(): Promise<void> {
  const signedOut = await isSignedOut();
  if (client.state === "open") return;
  const { lostAt } = useLink.getState();
  useLink.setState({ link: signedOut ? "signed_out" : "offline", lostAt: lostAt ?? Date.now() });
}

/** A WebSocket that is refused does not say why; a plain request does. */
async function isSignedOut(): Promise<boolean> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", params: {} });
  const headers = { "Content-Type": "application/json" };
  return fetch("/rpc", { method: "POST", body, headers }).then(
    (answer) => answer.status === 401,
    () => false,
  );
}

export function call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
  return client.call(method, params);
}

/** Names this window to the gateway: its panels, and what is selected in them. */
export const WINDOW_ID = `win_${crypto.randomUUID()}`;
