// Speaks pi's rpc protocol as 0.73 does, with what Heddle's extension asks for. FAKE_PI names a folder: `script.json` says
// what each prompt leads to, `log.jsonl` gets what was heard, `sessions.json` holds the sessions there are.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lineOf, onLines } from "./lines.mjs";

const home = process.env.FAKE_PI;
const script = JSON.parse(readFileSync(join(home, "script.json"), "utf8"));
const log = (entry) => appendFileSync(join(home, "log.jsonl"), `${JSON.stringify(entry)}\n`);
const say = (message) => process.stdout.write(lineOf(message));
const sessionsFile = join(home, "sessions.json");
const sessions = existsSync(sessionsFile) ? JSON.parse(readFileSync(sessionsFile, "utf8")) : {};

const args = process.argv.slice(2);
const after = (flag) => (args.includes(flag) ? args[args.indexOf(flag) + 1] : undefined);
const extension = after("-e");
log({
  argv: args,
  env: process.env,
  pid: process.pid,
  mode: extension && statSync(extension).mode & 0o777,
  extension: extension && readFileSync(extension, "utf8"),
});

if (script.start?.ignore_signals) process.on("SIGTERM", () => log({ signal: "SIGTERM" }));
if (script.start?.stderr) process.stderr.write(script.start.stderr);
if (script.start?.exit !== undefined) process.exit(script.start.exit);
for (const line of script.start?.raw ?? []) process.stdout.write(line);
if (script.start?.nonsense) for (let at = 0; at < 1_000; at += 1) console.log(`nonsense ${at}`);

const wanted = after("--session");
if (wanted !== undefined && !(wanted in sessions)) {
  process.stderr.write(`No session found matching '${wanted}'\n`);
  process.exit(1);
}
const session = script.start?.session ?? wanted ?? script.session ?? `session-${process.pid}`;
let count = 0;
let busy = 0;
const answers = new Map();
const dialog = (method, fields) =>
  new Promise((resolve) => {
    count += 1;
    const id = `dialog-${process.pid}-${count}`;
    answers.set(id, resolve);
    say({ type: "extension_ui_request", id, method, ...fields });
  });
let next;
function expectTurn(over = false) {
  next ??= heddle({ what: "turn", over });
}
const heddle = (what) => dialog("input", { title: "heddle", placeholder: JSON.stringify(what) });

if (!script.start?.silent) {
  if (!script.start?.bare) expectTurn();
  onLines(process.stdin, (line) => hear(JSON.parse(line)));
}
setInterval(() => {}, 1_000);
process.stdin.on("end", () => script.start?.ignore_signals || process.exit(0));
if (script.start?.silent) process.stdin.resume();

async function hear(message) {
  log({ heard: message });
  if (message.type === "extension_ui_response") return answers.get(message.id)?.(message);
  if (message.type === "get_state") {
    const data = { sessionId: session, messageCount: sessions[session] ?? 0, isStreaming: busy > 0 };
    if (busy > 0) busy -= 1;
    return say({ id: message.id, type: "response", command: "get_state", success: true, data });
  }
  if (message.type === "prompt") await prompt(message);
}

async function prompt({ id, message }) {
  const turn = script.turns.shift() ?? { steps: [] };
  const response = { id, type: "response", command: "prompt", success: !turn.refused };
  if (turn.refused) return say({ ...response, error: turn.refused });
  if (turn.command) return say(response);
  if (!turn.unasked) {
    expectTurn();
    log({ offer: JSON.parse((await next).value) });
    next = undefined;
    say({
      type: "extension_ui_request",
      id: "s",
      method: "setStatus",
      statusKey: "heddle",
      statusText: "told",
    });
  }
  say(response);
  say({ type: "agent_start" });
  say({ type: "message_start", message: { role: "user", content: [{ type: "text", text: message }] } });
  for (const step of turn.steps) await play(step);
  if (turn.open) return;
  sessions[session] = (sessions[session] ?? 0) + 2;
  writeFileSync(sessionsFile, JSON.stringify(sessions));
  if (!script.start?.late) expectTurn(turn.over);
  say({ type: "agent_end", messages: [] });
  for (const step of turn.after ?? []) await play(step);
}

/** In a group of its own it ends only with a signal, as with pi: the end of the input leaves it behind. */
function child(detached) {
  const { pid } = spawn("sleep", ["600"], { stdio: "ignore", detached });
  const end = () => {
    process.kill(-pid, "SIGKILL");
    process.exit(143);
  };
  if (detached) process.on("SIGTERM", end);
  return pid;
}

/** A step is an event as it stands, or something else that a program does. */
async function play(step) {
  if (step.type) say(step);
  else if (step.raw !== undefined) process.stdout.write(step.raw);
  else if (step.may) log({ may: (await heddle({ what: "may", ...step.may })).value });
  else if (step.dialog) log({ dialog: await dialog(step.dialog, { title: "Sure?" }) });
  else if (step.flood) for (let at = 0; at < step.flood; at += 1) say(step.event);
  else if (step.busy) busy = step.busy;
  else if (step.child) log({ child: child(step.child === "detached") });
  else if (step.stderr) process.stderr.write(step.stderr);
  if (step.exit !== undefined)
    await new Promise(() => process.stdout.write("", () => process.exit(step.exit)));
}
