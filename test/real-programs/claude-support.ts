import { mkdir } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import {
  type AskedPermission,
  type Bridge,
  createProvider,
  type GenerateRequest,
  type PermissionAnswer,
  type PromptMessage,
  type Provider,
  type ProviderEvent,
  type WorkPlace,
} from "../../src/providers/index.js";
import type { ServerTurn } from "../support/model-server/script.js";
import { type ModelServer, startModelServer } from "../support/model-server/server.js";
import { only } from "../support/programs/events.js";
import { cleanEnv, cleanHome, programPath } from "./support.js";

export interface ClaudeStage {
  readonly home: string;
  readonly directory: string;
  readonly server: ModelServer;
  readonly asked: AskedPermission[];
  answer: PermissionAnswer;
  /** A gateway's worth of it: another one knows nothing of the first. */
  provider(): Provider;
  request(messages: readonly PromptMessage[], work?: Partial<WorkPlace>): GenerateRequest;
  bodies(): Body[];
}

export interface Body {
  readonly system: readonly { readonly text: string }[];
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
  readonly tools?: readonly { readonly name: string }[];
}

export async function claudeStage(turns: readonly ServerTurn[]): Promise<ClaudeStage> {
  const [home, server] = [await cleanHome(), await startModelServer(turns)];
  onTestFinished(() => server.close());
  const directory = join(home, "work");
  await mkdir(directory);
  const asked: AskedPermission[] = [];
  const stage: ClaudeStage = {
    home,
    directory,
    server,
    asked,
    answer: "allow",
    provider() {
      const env = cleanEnv(home, {
        ANTHROPIC_BASE_URL: server.url,
        ANTHROPIC_API_KEY: "no-real-key",
        CLAUDE_CODE_MAX_RETRIES: "0",
      });
      const provider = createProvider({
        provider: "claude-cli",
        config: { command: programPath("claude") },
        env,
      });
      onTestFinished(() => provider.release?.());
      return provider;
    },
    request(messages, work = {}) {
      const ask = async (what: AskedPermission) => {
        asked.push(what);
        return stage.answer;
      };
      return { model: "fake", messages, work: { key: "thread", directory, ownTools: true, ask, ...work } };
    },
    bodies: () => server.requests.map(({ body }) => JSON.parse(body) as Body),
  };
  return stage;
}

/** The session that a turn has ended in, as the next one names it. */
export function sessionOf(events: readonly ProviderEvent[], told: number) {
  const id = only(events, "session").at(-1)?.id ?? "";
  return { id, told, instructions: only(events, "request").at(-1)?.delivery?.instructions ?? "" };
}

export function times(word: string, body: Body | undefined): number {
  return JSON.stringify(body).split(word).length - 1;
}

/** A tiny MCP server with one tool, `lists_add`. */
export async function startBridge(token: string): Promise<Bridge & { readonly calls: unknown[] }> {
  const calls: unknown[] = [];
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.headers.authorization !== `Bearer ${token}`) return response.writeHead(401).end();
    if (request.method !== "POST") return response.writeHead(405).end();
    const { id, method, params } = JSON.parse(body);
    if (id === undefined) return response.writeHead(202).end();
    const result = answers[method]?.(params, calls) ?? {};
    response.writeHead(200, { "content-type": "application/json" });
    return response.end(JSON.stringify({ jsonrpc: "2.0", id, result }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  return { url, token, command: "false", args: [], env: {}, calls };
}

type Params = { readonly protocolVersion?: string; readonly arguments?: { readonly item?: string } };

const answers: Record<string, (params: Params, calls: unknown[]) => unknown> = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "heddle", version: "1" },
  }),
  "tools/list": () => ({
    tools: [
      {
        name: "lists_add",
        description: "Adds an item.",
        inputSchema: { type: "object", properties: { item: { type: "string" } } },
      },
    ],
  }),
  "tools/call": (params, calls) => {
    calls.push(params.arguments);
    return { content: [{ type: "text", text: `added ${params.arguments?.item}` }] };
  },
};
