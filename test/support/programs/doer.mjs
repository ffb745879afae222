// An agent for tests that speaks ACP and does what its message says: `do [...]` with a list of deeds, one after the other.
//   {"say": TEXT} · {"think": TEXT} · {"tool": KIND, "input": {…}, "output": TEXT, "times": N, "diff": {path, oldText, newText}}
//   {"begin": KIND, "input": {…}}: a tool that never answers
//   {"ask": KIND, "input": {…}}: a tool for which it asks first, and says whether it may
//   {"call": NAME, "arguments": {…}}: a tool of the MCP server that it was given, and says what came of it; with
//   "patience": MS it gives up after that time
//   {"tools": true}: says which tools that server has · {"wait": FILE}: until the file is there
//   {"exit": CODE, "words": TEXT} · {"hang": true} · {"child": true}: leaves a child running · {"garbage": TEXT}
// Everything it receives is appended to $DOER_LOG, a JSON line each. Sessions are kept in $DOER_SESSIONS.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { lineOf, onLines } from "./lines.mjs";

const { DOER_LOG: log, DOER_SESSIONS: sessions = "" } = process.env;
if (process.env.DOER_STUBBORN) process.on("SIGTERM", () => {});
if (sessions) mkdirSync(sessions, { recursive: true });

const servers = new Map();
const waiting = new Map();
const cancelled = new Set();
let nextId = 1;
let nextCall = 1;

note({ started: process.pid, argv: process.argv.slice(2) });
onLines(process.stdin, (line) => take(JSON.parse(line)));

function take(message) {
  if (message.method === undefined) {
    waiting.get(message.id)?.(message.result ?? { error: message.error });
    waiting.delete(message.id);
    return;
  }
  note({ method: message.method, params: message.params });
  answer(message).catch((error) => send({ id: message.id, error: { code: -32603, message: String(error) } }));
}

async function answer({ id, method, params }) {
  const give = (result) => send({ id, result });
  if (method === "initialize") {
    return give({
      protocolVersion: 1,
      agentInfo: { name: "doer", version: "1.0.0" },
      agentCapabilities: {
        loadSession: sessions !== "",
        mcpCapabilities: { http: true },
        promptCapabilities: { image: true },
      },
      authMethods: [],
    });
  }
  if (method === "session/new") {
    const sessionId = `s-${process.pid}-${nextId++}`;
    servers.set(sessionId, params.mcpServers ?? []);
    if (sessions) writeFileSync(join(sessions, sessionId), "");
    return give({ sessionId });
  }
  if (method === "session/load") {
    if (!existsSync(join(sessions, params.sessionId))) {
      return send({ id, error: { code: -32602, message: "there is no such session" } });
    }
    servers.set(params.sessionId, params.mcpServers ?? []);
    return give({});
  }
  if (method === "session/prompt") return give({ stopReason: await work(params) });
  if (method === "session/cancel") return void cancelled.add(params.sessionId);
  send({ id, error: { code: -32601, message: `${method} is not known` } });
}

async function work({ sessionId, prompt }) {
  const text = prompt.map((block) => block.text ?? "").join("");
  // Deeds that stand in a record of the past are not to be done again.
  const [, asked] = /(?:^|\n\n)do (\[[^\n]*\])$/.exec(text) ?? [];
  const deeds = asked === undefined ? [{ say: `heard ${text.length} characters` }] : JSON.parse(asked);
  for (const deed of deeds) {
    if (cancelled.has(sessionId)) return "cancelled";
    await carryOut(deed, sessionId);
  }
  return "end_turn";
}

async function carryOut(deed, sessionId) {
  const update = (more) => send({ method: "session/update", params: { sessionId, update: more } });
  const say = (text) => update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  if (deed.say !== undefined) say(deed.say);
  if (deed.think !== undefined)
    update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: deed.think } });
  if (deed.tool !== undefined) useTool(deed, update);
  if (deed.begin !== undefined) beginTool(deed.begin, deed.input, update);
  if (deed.ask !== undefined) await askFirst(deed, sessionId, { update, say });
  if (deed.call !== undefined)
    say(
      await callBridge(
        sessionId,
        "tools/call",
        { name: deed.call, arguments: deed.arguments ?? {} },
        deed.patience,
      ).catch(String),
    );
  if (deed.tools !== undefined) say(await callBridge(sessionId, "tools/list", {}));
  if (deed.child !== undefined) spawn("sleep", ["1000"], { stdio: "ignore" });
  if (deed.garbage !== undefined) process.stdout.write(`${deed.garbage}\n`);
  while (deed.wait !== undefined && !existsSync(deed.wait)) await delay(20);
  if (deed.hang !== undefined) await new Promise(() => setInterval(() => {}, 1_000));
  if (deed.exit === undefined) return;
  process.stderr.write(deed.words ?? "");
  process.exit(deed.exit);
}

function beginTool(kind, input, update) {
  const toolCallId = `t${nextCall++}`;
  update({
    sessionUpdate: "tool_call",
    toolCallId,
    title: kind,
    kind,
    status: "in_progress",
    rawInput: input ?? {},
  });
  return toolCallId;
}

function useTool({ tool, input, output = "", times = 1, diff, failed }, update) {
  const toolCallId = beginTool(tool, input, update);
  const content = [
    { type: "content", content: { type: "text", text: output.repeat(times) } },
    ...(diff ? [{ type: "diff", ...diff }] : []),
  ];
  update({ sessionUpdate: "tool_call_update", toolCallId, status: failed ? "failed" : "completed", content });
}

async function askFirst({ ask, input = {} }, sessionId, { update, say }) {
  const toolCallId = `t${nextCall++}`;
  update({
    sessionUpdate: "tool_call",
    toolCallId,
    title: ask,
    kind: ask,
    status: "pending",
    rawInput: input,
  });
  const options = [
    { optionId: "yes", name: "Allow", kind: "allow_once" },
    { optionId: "ever", name: "Always", kind: "allow_always" },
    { optionId: "no", name: "Reject", kind: "reject_once" },
  ];
  const toolCall = { toolCallId, title: ask, kind: ask, rawInput: input };
  const { outcome } = await request("session/request_permission", { sessionId, toolCall, options });
  const may = outcome?.optionId === "yes" || outcome?.optionId === "ever";
  update({
    sessionUpdate: "tool_call_update",
    toolCallId,
    status: may ? "completed" : "failed",
    content: [{ type: "content", content: { type: "text", text: may ? "done" : "not allowed" } }],
  });
  say(`${ask}: ${outcome?.optionId ?? outcome?.outcome}`);
}

/** One request to the MCP server, without the ceremony: what it answers, as text. */
async function callBridge(sessionId, method, params, patience) {
  const server = servers.get(sessionId)?.find(({ type }) => type === "http");
  if (!server) return "no server";
  const headers = Object.fromEntries(server.headers.map(({ name, value }) => [name, value]));
  note({ bridge: server.url, headers });
  const response = await fetch(server.url, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    ...(patience !== undefined && { signal: AbortSignal.timeout(patience) }),
  });
  const text = await response.text();
  const data = text.split("\n").findLast((line) => line.startsWith("data:"));
  const { result, error } = response.ok
    ? JSON.parse(data ? data.slice(5) : text)
    : { error: response.status };
  if (error) return `error ${JSON.stringify(error)}`;
  if (method === "tools/list") return result.tools.map(({ name }) => name).join(",");
  return `${result.isError ? "failed: " : ""}${result.content.map((part) => part.text).join("")}`;
}

function request(method, params) {
  const id = `r${nextId++}`;
  send({ id, method, params });
  return new Promise((resolve) => waiting.set(id, resolve));
}

function send(message) {
  process.stdout.write(lineOf({ jsonrpc: "2.0", ...message }));
}

function note(what) {
  if (log) appendFileSync(log, `${JSON.stringify(what)}\n`);
}
