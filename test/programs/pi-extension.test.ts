import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { EXTENSION } from "../../src/providers/programs/pi/extension.js";

type Handler = (event: unknown, ctx: unknown) => unknown;

interface RegisteredTool {
  readonly name: string;
  readonly parameters: unknown;
  execute(id: string, given: unknown, signal?: AbortSignal): Promise<unknown>;
}

/** What pi gives an extension, as far as ours uses it. */
class Host {
  readonly tools = new Map<string, RegisteredTool>();
  readonly registered: string[] = [];
  readonly asked: unknown[] = [];
  readonly statuses: string[] = [];
  active = ["read", "bash", "edit", "write"];
  answers: string[] = [];
  usage: object | undefined;
  readonly waiting: ((answer: string) => void)[] = [];
  readonly #handlers = new Map<string, Handler>();

  on(event: string, handler: Handler): void {
    this.#handlers.set(event, handler);
  }

  registerTool(tool: RegisteredTool): void {
    this.tools.set(tool.name, tool);
    this.registered.push(tool.name);
    if (!this.active.includes(tool.name)) this.active.push(tool.name);
  }

  getActiveTools(): string[] {
    return [...this.active];
  }

  setActiveTools(names: string[]): void {
    this.active = names;
  }

  async emit(type: string, event: unknown = {}): Promise<unknown> {
    const ui = {
      input: async (title: string, what: string) => {
        expect(title).toBe("heddle");
        this.asked.push(JSON.parse(what));
        return this.answers.shift() ?? new Promise<string>((answer) => this.waiting.push(answer));
      },
      setStatus: (...status: string[]) => this.statuses.push(status.join(" ")),
    };
    return await this.#handlers.get(type)?.(event, { ui, getContextUsage: () => this.usage });
  }

  begin(given: object): Promise<unknown> {
    this.answers.push(offer(given));
    return this.emit("before_agent_start", { systemPrompt: "Own." });
  }
}

const offer = (given: object) => JSON.stringify({ own: true, instructions: "", tools: [], ...given });

async function host(): Promise<Host> {
  const folder = await mkdtemp(join(tmpdir(), "heddle-pi-extension-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, "heddle.mjs");
  await writeFile(file, EXTENSION);
  const { default: extend } = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as {
    default: (pi: Host) => void;
  };
  const made = new Host();
  extend(made);
  return made;
}

const tool = (name: string, as = name, description = "") => ({ name, as, description, parameters: {} });

test("[PIA6] it says that it is there, and puts the newest instructions after pi's own", async () => {
  const pi = await host();
  await pi.emit("session_start");
  expect(pi.asked).toEqual([{ what: "turn", over: false }]);
  pi.waiting.shift()?.(offer({ instructions: "One." }));
  expect(await pi.emit("before_agent_start", { systemPrompt: "Own." })).toEqual({
    systemPrompt: "Own.\n\nOne.",
  });
  expect(await pi.begin({ instructions: "Two." })).toEqual({ systemPrompt: "Own.\n\nTwo." });
  expect(await pi.begin({ instructions: "" })).toBeUndefined();
  expect(pi.statuses).toEqual(["heddle told", "heddle told", "heddle told"]);
  await pi.emit("agent_end", { messages: [] });
  await pi.emit("agent_end", { messages: [] });
  expect(pi.asked).toEqual(Array.from({ length: 4 }, () => ({ what: "turn", over: false })));
});

test("[PIA9] [PIA10] it offers the tools of the turn, and no others of Heddle's", async () => {
  const pi = await host();
  await pi.begin({ tools: [tool("a"), tool("b")] });
  expect(pi.active).toEqual(["read", "bash", "edit", "write", "a", "b"]);
  await pi.begin({ tools: [tool("b"), tool("c")] });
  expect(pi.active).toEqual(["read", "bash", "edit", "write", "b", "c"]);
  await pi.begin({ tools: [tool("c", "c", "changed")] });
  expect(pi.registered).toEqual(["a", "b", "c", "c"]);
  await pi.begin({ own: false, tools: [tool("c", "c", "changed")] });
  expect(pi.active).toEqual(["c"]);
});

test("[PIA10] [PIA11] a call is decided by Heddle; with own tools off another than Heddle's is refused", async () => {
  const pi = await host();
  const call = (toolName: string) => ({ toolCallId: "c1", toolName, input: { x: 1 } });
  expect(await pi.emit("tool_call", call("bash"))).toMatchObject({ block: true });
  await pi.begin({ tools: [tool("mine")] });
  pi.asked.length = 0;
  expect(await pi.emit("tool_call", call("mine"))).toBeUndefined();
  expect(pi.asked).toEqual([]);
  pi.answers = ["allow", "deny", "of course"];
  expect(await pi.emit("tool_call", call("bash"))).toBeUndefined();
  expect(await pi.emit("tool_call", call("bash"))).toMatchObject({ block: true });
  expect(await pi.emit("tool_call", call("bash"))).toMatchObject({ block: true });
  expect(pi.asked[0]).toEqual({ what: "may", id: "c1", name: "bash", input: { x: 1 } });

  await pi.begin({ own: false, tools: [tool("mine")] });
  pi.answers = ["allow"];
  expect(await pi.emit("tool_call", call("bash"))).toMatchObject({ block: true });
  expect(await pi.emit("tool_call", call("mine"))).toBeUndefined();
});

test.each([
  ["stop", { tokens: 10, contextWindow: 100 }, true],
  ["length", { tokens: 10, contextWindow: 100 }, true],
  ["stop", { tokens: 60, contextWindow: 100 }, false],
  ["stop", { tokens: null, contextWindow: 100 }, false],
  ["stop", undefined, false],
  ["error", { tokens: 10, contextWindow: 100 }, false],
])("[PIA13] after %s with %o, that nothing follows is %s", async (stopReason, usage, over) => {
  const pi = await host();
  pi.usage = usage;
  await pi.emit("agent_end", { messages: [{ role: "assistant", stopReason }, { role: "toolResult" }] });
  expect(pi.asked).toEqual([{ what: "turn", over }]);
});

test("[PIA14] what would be repeated is not written, and stays what it is", async () => {
  const pi = await host();
  const partial = { role: "assistant", content: [{ type: "toolCall", id: "c", name: "bash" }] };
  const piece = { type: "toolcall_start", contentIndex: 0, partial };
  const event = { type: "message_update", message: { ...partial }, assistantMessageEvent: piece };
  await pi.emit("message_update", event);
  expect(JSON.parse(JSON.stringify(event))).toEqual({
    type: "message_update",
    message: { role: "assistant" },
    assistantMessageEvent: { type: "toolcall_start", contentIndex: 0, id: "c", toolName: "bash" },
  });
  expect(event.message).toEqual(partial);
  expect(JSON.parse(JSON.stringify(partial))).toEqual(partial);

  // The message itself is what pi keeps: it must not be touched.
  const same = { type: "message_update", message: partial, assistantMessageEvent: { ...piece } };
  await pi.emit("message_update", same);
  expect(JSON.parse(JSON.stringify(partial))).toEqual(partial);

  const messages = [partial];
  await pi.emit("agent_end", { messages });
  expect(JSON.stringify({ messages })).toBe('{"messages":[]}');
  expect(messages).toEqual([partial]);
});

const json = { "content-type": "application/json" };
const rpc = (answer: object) => JSON.stringify({ jsonrpc: "2.0", id: 1, ...answer });
const textPart = (said: string) => ({ type: "text", text: said });

async function calling(handle: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(handle);
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const pi = await host();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
  await pi.begin({ tools: [tool("heddle_bash", "bash")], bridge: { url, token: "secret" } });
  const made = pi.tools.get("heddle_bash") as RegisteredTool;
  return { pi, url, call: (given: unknown, signal?: AbortSignal) => made.execute("c1", given, signal) };
}

test("[PIA9] a call goes to the bridge under Heddle's name, with the token", async () => {
  const heard: unknown[] = [];
  const { call } = await calling(async (request, response) => {
    heard.push(request.headers.authorization, JSON.parse(await text(request)));
    const image = { type: "image", data: "AAAA", mimeType: "image/png" };
    const resource = { type: "resource", resource: { text: "told" } };
    const content = [textPart("é"), image, resource, { type: "audio" }];
    response.writeHead(200, json).end(rpc({ result: { content } }));
  });
  expect(await call({ word: "ü" })).toEqual({
    content: [textPart("é"), { type: "image", data: "AAAA", mimeType: "image/png" }, textPart("told")],
    details: {},
  });
  expect(heard).toEqual([
    "Bearer secret",
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "bash", arguments: { word: "ü" } } },
  ]);
});

test("[PIA9] an answer as a stream of events is understood", async () => {
  const { call } = await calling((_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write('data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n: ping\n\n');
    response.end(`event: message\r\ndata: ${rpc({ result: { content: [textPart("x")] } })}\r\n\r\n`);
  });
  expect(await call({})).toEqual({ content: [textPart("x")], details: {} });
});

test.each([
  [
    "a failed call",
    200,
    rpc({ result: { isError: true, content: [textPart("no such list")] } }),
    "no such list",
  ],
  ["a refusal", 200, rpc({ error: { code: -32602, message: "not yours" } }), "not yours"],
  ["another status", 401, "who are you", "status 401"],
  ["nonsense", 200, "<html>", "status 200"],
])("[PIA9] %s is an error", async (_, status, body, words) => {
  const { call } = await calling((_request, response) => response.writeHead(status, json).end(body));
  await expect(call({})).rejects.toThrow(words);
});

test("[PIA9] a call can be given up, and needs a bridge", async () => {
  const stop = new AbortController();
  const { call, pi } = await calling(() => stop.abort());
  await expect(call({}, stop.signal)).rejects.toThrow("abort");
  await pi.begin({ tools: [tool("heddle_bash", "bash")] });
  await expect(call({})).rejects.toThrow("can't be reached");
});
