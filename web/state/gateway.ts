import { create } from "zustand";
import { connect, NoAnswerError } from "../../src/client/index.js";
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
const AGAIN_MS = 5_000;
/** Counts what became of the connection: what is found out about an earlier loss is not about this one. */
let turn = 0;
let patience: ReturnType<typeof setTimeout> | undefined;

client.onState((state) => {
  turn++;
  clearTimeout(patience);
  if (state === "open") useLink.setState({ link: "open", lostAt: undefined });
  else lookIn(PATIENCE_MS);
});
lookIn(2_000);

function lookIn(ms: number): void {
  patience = setTimeout(() => void look(), ms);
}

/** Again and again: a gateway that was away when it was asked may come back and know this browser no more. */
async function look(): Promise<void> {
  const mine = turn;
  const signedOut = await isSignedOut();
  if (mine !== turn) return;
  const { link, lostAt } = useLink.getState();
  const out = signedOut ?? link === "signed_out";
  useLink.setState({ link: out ? "signed_out" : "offline", lostAt: lostAt ?? Date.now() });
  lookIn(AGAIN_MS);
}

/** A WebSocket that is refused does not say why; a plain request does. Undefined: nobody answers. */
async function isSignedOut(): Promise<boolean | undefined> {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping", params: {} });
  const headers = { "Content-Type": "application/json" };
  const signal = AbortSignal.timeout(AGAIN_MS);
  return fetch("/rpc", { method: "POST", body, headers, signal }).then(
    (answer) => answer.status === 401,
    () => undefined,
  );
}

/** Whether a call got no answer. Made again, it waits for the next connection. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof NoAnswerError && client.state !== "closed";
}

export function call<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
  return client.call(method, params);
}

/** What a person commanded while there was no connection. */
export class NotConnectedError extends Error {
  constructor() {
    super("Not connected: nothing was changed. Try again when the gateway is back.");
  }
}

/**
 * A call that a person commands. Without a connection it is refused at once: held, it would be carried out behind the back
 * of somebody who has gone elsewhere since.
 */
export async function command<M extends MethodName>(method: M, params: Params<M>): Promise<Result<M>> {
  if (client.state !== "open") throw new NotConnectedError();
  return client.call(method, params);
}

/** Names this window to the gateway: its panels, and what is selected in them. */
export const WINDOW_ID = `win_${crypto.randomUUID()}`;
