import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";
import {
  type AskedPermission,
  createProvider,
  type GenerateRequest,
  type PermissionAnswer,
  type PromptMessage,
  type ProviderEvent,
  type WorkPlace,
  type WorkSession,
} from "../../src/providers/index.js";
import type { ServerTurn } from "../support/model-server/script.js";
import { type ModelServer, startModelServer } from "../support/model-server/server.js";
import { cleanEnv, cleanHome, programPath } from "./support.js";

/** An agent, as these tests need to know it. */
export interface RealAgent {
  readonly name: string;
  readonly args: readonly string[];
  readonly model: string;
  /** What it sees, beside a clean environment. */
  env(server: ModelServer): Record<string, string>;
  /** The last message of a request to the model, and the names of the tools that it offers. */
  read(body: string): {
    readonly last: string;
    readonly isResult: boolean;
    readonly tools: readonly string[];
  };
}

export const notes = { name: "notes_add", description: "Adds a note.", parameters: { type: "object" } };

/** A real agent with a home of its own, a model server and a bridge, all on loopback. */
export async function realStage(agent: RealAgent, more: Record<string, string> = {}) {
  const home = await cleanHome();
  const directory = join(home, "project");
  await mkdir(directory);
  const server = await startModelServer();
  onTestFinished(() => server.close());
  const bridge = await notesBridge();
  const env = cleanEnv(home, { ...agent.env(server), ...more });
  const config = { command: programPath(agent.name), args: [...agent.args], timeouts: { startMs: 90_000 } };
  const begin = () => {
    const provider = createProvider({ provider: "acp", config, env });
    onTestFinished(() => provider.release?.());
    return provider;
  };
  let provider = begin();
  const asked: AskedPermission[] = [];
  const said: PromptMessage[] = [];
  let session: WorkSession | undefined;

  interface TurnOptions {
    readonly instructions?: string;
    readonly answer?: PermissionAnswer;
    readonly work?: Partial<WorkPlace>;
    readonly signal?: AbortSignal;
    readonly on?: (event: ProviderEvent) => void;
  }

  /** Says something, as a run would: with all that was said, and the session that goes on. */
  async function turn(message: string, options: TurnOptions = {}): Promise<ProviderEvent[]> {
    const { instructions, answer = "allow", work = {}, signal, on } = options;
    const rules: PromptMessage[] =
      instructions === undefined ? [] : [{ role: "system", content: instructions }];
    said.push({ role: "user", content: message });
    const request: GenerateRequest = {
      model: agent.model,
      messages: [...rules, ...said],
      tools: [notes],
      work: {
        key: "k",
        directory,
        ownTools: true,
        bridge: bridge.given,
        session,
        ask: async (question) => {
          asked.push(question);
          return answer;
        },
        ...work,
      },
    };
    const events: ProviderEvent[] = [];
    for await (const event of provider.generate(request, signal ? { signal } : {})) {
      events.push(event);
      on?.(event);
    }
    session = remembered(events, said);
    return events;
  }

  return {
    home,
    directory,
    server,
    bridge,
    asked,
    turn,
    write: (file: string, content: string) => writeFile(join(directory, file), content),
    /** Another gateway: no process is kept. */
    async restart() {
      await provider.release?.();
      provider = begin();
    },
    play: (answer: (last: string) => ServerTurn["steps"]) =>
      server.play((body) => {
        const { last, isResult } = agent.read(body);
        return {
          steps: [
            ...(isResult ? [{ text: "Finished." }] : answer(last)),
            { usage: { input: 10, output: 5 } },
          ],
        };
      }),
    bodies: () => server.requests.map(({ body }) => body),
    offered: () => [...new Set(server.requests.flatMap(({ body }) => agent.read(body).tools))].sort(),
  };
}

function remembered(events: readonly ProviderEvent[], said: PromptMessage[]): WorkSession | undefined {
  said.push({ role: "assistant", content: textIn(events) });
  const id = events.findLast((event) => event.type === "session")?.id;
  const instructions = events.findLast((event) => event.type === "request")?.delivery?.instructions;
  const well = events.at(-1)?.type === "finish";
  return well && id !== undefined && instructions !== undefined
    ? { id, told: said.length, instructions }
    : undefined;
}

export function textIn(events: readonly ProviderEvent[]): string {
  return events.map((event) => (event.type === "text" ? event.text : "")).join("");
}

export function countOf(text: string, part: string): number {
  return text.split(part).length - 1;
}

/** An MCP server with one tool, for whoever has the token. */
async function notesBridge() {
  const calls: string[] = [];
  const server = createServer(async (request, response) => {
    const message = request.method === "POST" ? JSON.parse(await text(request)) : {};
    if (request.headers.authorization !== "Bearer bridge-token") response.writeHead(401).end();
    else if (request.method !== "POST") response.writeHead(405).end();
    else if (message.id === undefined) response.writeHead(202).end();
    else {
      const { method, params, id } = message;
      if (method === "tools/call") calls.push(JSON.stringify(params.arguments));
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify({ jsonrpc: "2.0", id, result: results(method, params) }));
    }
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(
    () =>
      new Promise<void>((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  );
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  return { calls, given: { url, token: "bridge-token", command: "false", args: [], env: {} } };
}

function results(method: string, params: { protocolVersion?: string }): object {
  if (method === "initialize") {
    const { protocolVersion } = params;
    return { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "notes", version: "1" } };
  }
  if (method === "tools/list")
    return {
      tools: [
        {
          name: notes.name,
          description: notes.description,
          inputSchema: { type: "object", properties: { text: { type: "string" } } },
        },
      ],
    };
  return method === "tools/call" ? { content: [{ type: "text", text: "noted" }] } : {};
}
