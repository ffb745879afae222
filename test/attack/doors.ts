import type { TestGateway } from "../support/gateway.js";
import { bearer, http, upgrade } from "../support/http.js";

const PING = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" });

/** What a request to the gateway can look like, and which status it has when somebody may make it. */
export interface Knock {
  readonly method: string;
  readonly path: string;
  readonly body?: string;
  /** Of the gateway's own page, signed in. */
  readonly own: number;
}

/** Every address of the gateway but the one of external agents, which a secret opens. */
export function doors(workspace_id: string, thread_id: string): Knock[] {
  const create = (name: string) =>
    JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method: "thread/folder/create",
      params: { workspace_id, name },
    });
  const chat = JSON.stringify({ model: "nobody", messages: [{ role: "user", content: "hello" }] });
  return [
    { method: "POST", path: "/rpc", body: create("knocked"), own: 200 },
    { method: "POST", path: "/rpc", body: `[${create("one")},${create("two")}]`, own: 200 },
    { method: "GET", path: "/rpc", own: 405 },
    { method: "POST", path: "/mcp", body: PING, own: 415 },
    { method: "GET", path: "/v1/models", own: 200 },
    { method: "POST", path: "/v1/chat/completions", body: chat, own: 404 },
    { method: "POST", path: "/visits", own: 200 },
    { method: "GET", path: "/metrics", own: 200 },
    { method: "GET", path: `/threads/${thread_id}/assets/sha256-${"0".repeat(16)}.png`, own: 404 },
    { method: "GET", path: "/", own: 200 },
    { method: "GET", path: `/w/${workspace_id}`, own: 200 },
    { method: "GET", path: "/assets/none.js", own: 404 },
    { method: "GET", path: "/schemas/", own: 200 },
    { method: "GET", path: "/healthz", own: 200 },
    { method: "GET", path: "/readyz", own: 200 },
  ];
}

/** A browser that was let in: the cookie it sends, from wherever it is made to ask. */
export async function sessionOf(gateway: TestGateway): Promise<string> {
  const { headers } = await http(gateway.pageUrl());
  return headers["set-cookie"]?.[0]?.split(";")[0] ?? "";
}

/** What each door, and the WebSocket, answers to these headers. */
export async function knocked(gateway: TestGateway, given: readonly Knock[], headers: object) {
  const found: Record<string, number> = {};
  for (const { method, path, body } of given) {
    const { status } = await http(gateway.url + path, {
      method,
      headers: { ...headers },
      ...(body !== undefined && { body }),
    });
    found[`${method} ${path}`] = status;
  }
  found.WebSocket = await upgrade(`${gateway.url}/rpc`, { ...headers });
  return found;
}

/** With nothing but the same answer everywhere. */
export function everywhere(given: readonly Knock[], status: number): Record<string, number> {
  return Object.fromEntries([
    ...given.map(({ method, path }) => [`${method} ${path}`, status] as const),
    ["WebSocket", status] as const,
  ]);
}

/** Everything that lets in, at once: a browser that is signed in, and somebody who gave the token away. */
export async function letIn(gateway: TestGateway): Promise<object> {
  return { ...bearer(gateway), cookie: await sessionOf(gateway) };
}
