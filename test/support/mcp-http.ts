import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { type McpScript, scriptedServer } from "./mcp-script.js";

export interface McpHttpServer {
  readonly url: string;
  readonly port: number;
  /** The headers of every request so far. */
  readonly seen: IncomingMessage["headers"][];
  /** How many sessions are open. */
  sessions(): number;
  /** Ends it and every connection at once. */
  stop(): Promise<void>;
}

export interface McpHttpGiven {
  readonly port?: number;
  /** Answers a request instead of the server; true when it did. */
  readonly instead?: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** One that knows only the newer handshake, and no sessions. */
export async function startModernMcpHttp(script: McpScript): Promise<McpHttpServer> {
  const handle = toNodeHandler(createMcpHandler(() => scriptedServer(script), { legacy: "reject" }));
  const seen: IncomingMessage["headers"][] = [];
  const server = createServer((request, response) => {
    seen.push(request.headers);
    void handle(request as never, response);
  });
  return { ...(await listening(server, 0)), seen, sessions: () => 0 };
}

/** A scripted MCP server over HTTP, with a session for each client. */
export async function startMcpHttp(script: McpScript, given: McpHttpGiven = {}): Promise<McpHttpServer> {
  const sessions = new Map<string, NodeStreamableHTTPServerTransport>();
  const seen: IncomingMessage["headers"][] = [];
  const server = createServer(async (request, response) => {
    seen.push(request.headers);
    if (given.instead?.(request, response)) return;
    const id = request.headers["mcp-session-id"];
    const known = typeof id === "string" ? sessions.get(id) : undefined;
    if (id !== undefined && known === undefined) {
      response.writeHead(404).end();
      return;
    }
    const transport = known ?? (await newSession(script, sessions));
    await transport.handleRequest(request, response);
  });
  return { ...(await listening(server, given.port ?? 0)), seen, sessions: () => sessions.size };
}

async function listening(server: Server, at: number): Promise<Pick<McpHttpServer, "url" | "port" | "stop">> {
  await new Promise<void>((resolve) => server.listen(at, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/mcp`, port, stop: () => stop(server) };
}

async function newSession(script: McpScript, sessions: Map<string, NodeStreamableHTTPServerTransport>) {
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
    onsessionclosed: (id) => void sessions.delete(id),
  });
  await scriptedServer(script).connect(transport);
  return transport;
}

function stop(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
