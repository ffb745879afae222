// Codex's app-server as a play. $FAKE_CODEX names a folder: `script.json` says what it does, everything it receives is
// appended to `heard.jsonl`, and `threads.json` holds its sessions, for the next process too.
//   script: {turns: [[STEP, …], …], before?: [STEP, …], answers?: {METHOD: {result}|{error}}, stubborn?: true, policy?: TEXT}
//   {"note": METHOD, "params": {…}}: a notification, with the ids of the thread and the turn · {"ask": METHOD, "params": {…}}
//   {"exit": CODE} · {"kill": true} · {"words": TEXT} on standard error · {"raw": TEXT} on standard output
//   {"flood": N, "line": TEXT} · {"hang": true} · {"child": true}: a child that ignores signals
//   {"stray": true}: a command in a session of its own, as codex starts them
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lineOf, onLines } from "./lines.mjs";

const folder = process.env.FAKE_CODEX;
const script = JSON.parse(readFileSync(join(folder, "script.json"), "utf8"));
const threadsFile = join(folder, "threads.json");
const waiting = new Map();
let asked = 0;
let threadId;
let turnId;

function take(message) {
  hear(message);
  if (message.method === undefined) {
    waiting.get(message.id)?.();
    return;
  }
  if (message.id !== undefined) answer(message);
}

function answer({ id, method, params }) {
  const said = script.answers?.[method] ??
    answers[method]?.(params) ?? { error: { code: -32601, message: "unknown" } };
  send({ id, ...said });
  if (method === "turn/start" && said.result) void turn();
}

function opened(id, source) {
  threadId = id;
  const approvalPolicy = script.policy ?? "untrusted";
  return { result: { thread: { id, threadSource: source, turns: [] }, approvalPolicy, cwd: process.cwd() } };
}

const answers = {
  initialize: () => ({ result: { userAgent: "heddle/0.166.0 (fake)", codexHome: folder } }),
  "account/read": () => ({ result: { account: null, requiresOpenaiAuth: false } }),
  "config/read": () => ({
    result: { config: { mcp_servers: { "their.own": { url: "http://127.0.0.1:1" } } } },
  }),
  "thread/start": ({ threadSource }) => {
    const id = randomUUID();
    write({ ...threads(), [id]: { source: threadSource, turns: 0 } });
    return opened(id, threadSource);
  },
  "thread/resume": ({ threadId: id }) => {
    const known = threads()[id];
    if (!known) return { error: { code: -32600, message: `no rollout found for thread id ${id}` } };
    return opened(id, known.source);
  },
  "turn/start": () => {
    turnId = randomUUID();
    return { result: { turn: { id: turnId, status: "inProgress", items: [], error: null } } };
  },
};

async function turn() {
  const all = threads();
  const at = Object.values(all).reduce((sum, { turns }) => sum + turns, 0);
  all[threadId].turns += 1;
  write(all);
  note("turn/started", { turn: { id: turnId, status: "inProgress", items: [], error: null } });
  await play(script.turns[at] ?? [{ note: "turn/completed" }]);
}

async function play(steps) {
  for (const step of steps) await perform(step);
}

async function perform(step) {
  if (step.note) note(step.note, step.params);
  if (step.ask) await ask(step.ask, step.params);
  if (step.words) process.stderr.write(step.words);
  if (step.raw) process.stdout.write(step.raw);
  if (step.flood) for (let count = 0; count < step.flood; count++) process.stdout.write(`${step.line}\n`);
  if (step.child) spawn(process.execPath, ["-e", stubborn], { stdio: "ignore" });
  if (step.stray) stray();
  if ("exit" in step) process.exit(step.exit);
  if (step.kill) process.kill(process.pid, "SIGKILL");
  if (step.hang) await new Promise(() => setInterval(() => {}, 1_000));
}

const stubborn = 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1_000)';

function stray() {
  const env = { ...process.env, CODEX_THREAD_ID: threadId };
  const child = spawn(process.execPath, ["-e", stubborn], { stdio: "ignore", detached: true, env });
  hear({ stray: child.pid });
}

const done = { status: "completed", error: null, items: [] };

function note(method, params = {}) {
  const whole = method === "turn/completed" ? { turn: { id: turnId, ...done, ...params.turn } } : params;
  send({ method, params: { threadId, turnId, ...whole } });
}

function ask(method, params) {
  const id = asked++;
  send({ id, method, params: { threadId, turnId, ...params } });
  return new Promise((resolve) => waiting.set(id, resolve));
}

function send(message) {
  process.stdout.write(lineOf(message));
}

function hear(message) {
  appendFileSync(join(folder, "heard.jsonl"), `${JSON.stringify(message)}\n`);
}

function threads() {
  return existsSync(threadsFile) ? JSON.parse(readFileSync(threadsFile, "utf8")) : {};
}

function write(all) {
  writeFileSync(threadsFile, JSON.stringify(all));
}

if (script.stubborn) process.on("SIGTERM", () => {});
hear({ started: process.pid, argv: process.argv.slice(2), env: Object.keys(process.env) });
await play(script.before ?? []);
onLines(
  process.stdin,
  (line) => take(JSON.parse(line)),
  () => process.exit(0),
);
