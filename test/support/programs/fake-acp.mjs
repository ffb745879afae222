// An ACP agent that plays a script: `FAKE_ACP` names a JSON file with it, `FAKE_ACP_LOG` where it writes what it heard.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { lineOf, onLines } from "./lines.mjs";

const script = JSON.parse(readFileSync(process.env.FAKE_ACP, "utf8"));
const log = (heard) => appendFileSync(process.env.FAKE_ACP_LOG, `${JSON.stringify(heard)}\n`);
const say = (message) => process.stdout.write(lineOf({ jsonrpc: "2.0", ...message }));
const update = (sessionId, told) => say({ method: "session/update", params: { sessionId, update: told } });
const waiting = new Map();
const policy = process.argv.find((_, at) => process.argv[at - 1] === "--admin-policy");

log({
  started: process.pid,
  args: process.argv.slice(2),
  env: process.env,
  policy: policy && readFileSync(policy, "utf8"),
});
if (script.stubborn) {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
  const nap = "for (const s of ['SIGTERM','SIGHUP']) process.on(s, () => {}); setInterval(() => {}, 1000)";
  const child = spawn(process.execPath, ["-e", nap], { stdio: "ignore" });
  log({ child: child.pid });
  setInterval(() => {}, 1000);
}
for (const line of script.before ?? []) process.stdout.write(`${line}\n`);
if (script.exit) leave(script.exit);

function leave({ code, words = "" }) {
  process.stderr.write(words, () => process.exit(code));
}

const answers = {
  initialize: () => ({
    protocolVersion: 1,
    agentCapabilities: {},
    agentInfo: { name: "fake", version: "1" },
    ...script.initialized,
  }),
  "session/new": () => {
    const sessionId = script.sessionId ?? "s-1";
    remember(sessionId);
    return { sessionId, ...script.session };
  },
  "session/load": ({ sessionId }) => {
    known(sessionId);
    for (const told of script.replay ?? []) update(sessionId, told);
    setTimeout(() => {
      for (const told of script.lateReplay ?? []) update(sessionId, told);
    }, 20);
    return script.session ?? null;
  },
  "session/resume": ({ sessionId }) => {
    known(sessionId);
    return script.session ?? {};
  },
  "session/set_model": () => ({}),
  "session/set_mode": () => ({}),
  "session/set_config_option": () => ({}),
  "session/prompt": prompted,
};

const file = `${process.env.FAKE_ACP}.sessions`;
function remember(sessionId) {
  const all = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
  writeFileSync(file, JSON.stringify([...all, sessionId]));
}
function known(sessionId) {
  const all = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : [];
  if (!all.includes(sessionId)) throw { code: -32603, message: "Internal error", data: { details: "gone" } };
}

async function prompted({ sessionId, prompt }) {
  const text = prompt.map((block) => block.text ?? "").join("");
  const turn = script.turns?.find(({ when }) => when === undefined || text.includes(when));
  for (const step of turn?.steps ?? []) {
    const answer = await play(step, sessionId);
    if (answer !== undefined) return answer;
  }
  return { stopReason: "end_turn" };
}

async function play(step, sessionId) {
  if (step.update) update(step.of ?? sessionId, step.update);
  else if (step.line !== undefined) process.stdout.write(`${step.line}\n`);
  else if (step.half !== undefined) process.stdout.write(step.half);
  else if (step.flood) await flood(step.flood, sessionId);
  else if (step.ask)
    log({
      answer: await ask(step.ask.method ?? "session/request_permission", { sessionId, ...step.ask.params }),
    });
  else if (step.exit) leave(step.exit);
  else if (step.error) throw step.error;
  else if (step.end) return step.end;
  if (step.exit || step.hang) return new Promise(() => {});
  return undefined;
}

async function flood(count, sessionId) {
  for (let at = 0; at < count; at += 1) {
    const content = { type: "text", text: "x".repeat(1_000) };
    const message = {
      jsonrpc: "2.0",
      method: "session/update",
      params: { sessionId, update: { sessionUpdate: "agent_message_chunk", content } },
    };
    if (!process.stdout.write(`${JSON.stringify(message)}\n`))
      await new Promise((done) => process.stdout.once("drain", done));
  }
}

function ask(method, params) {
  const id = `ask-${waiting.size + 1}`;
  say({ id, method, params });
  return new Promise((done) => waiting.set(id, done));
}

onLines(
  process.stdin,
  async (line) => {
    const { id, method, params, result, error } = JSON.parse(line);
    if (method === undefined) return waiting.get(id)?.(result ?? { error });
    log({ method, params });
    if (script.silent?.includes(method)) return;
    if (script.refuse?.[method]) return say({ id, error: script.refuse[method] });
    if (id === undefined) return;
    try {
      const answer = await answers[method](params);
      // Answers to questions that nobody asked, and the right one twice.
      if (script.muddled) say({ id: id + 100, result: {} });
      say({ id, result: answer });
      if (script.muddled) say({ id, result: { sessionId: "another", stopReason: "refusal" } });
    } catch (problem) {
      say({ id, error: problem.code ? problem : { code: -32601, message: `no ${method}` } });
    }
  },
  () => {
    if (!script.stubborn) process.exit(0);
  },
);
