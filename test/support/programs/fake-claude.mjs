// Plays Claude Code's lines from a script: `FAKE_CLAUDE` names a JSON file `{ start, turns, … }`. What it was given and told
// goes to the file of the same name with `.log`, a line each. The lines are those of the real program, cut to what matters.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { lineOf, onLines } from "./lines.mjs";

const file = process.env.FAKE_CLAUDE;
const script = JSON.parse(readFileSync(file, "utf8"));
const log = (entry) => appendFileSync(`${file}.log`, `${JSON.stringify(entry)}\n`);
const say = (line) => process.stdout.write(lineOf(line));

const args = process.argv.slice(2);
log({ args, env: process.env, pid: process.pid });
if (script.stubborn) process.on("SIGTERM", () => {});

const resumed = args.find((arg) => arg.startsWith("--resume="))?.slice("--resume=".length);
const session = script.session ?? resumed ?? "11111111-1111-4111-8111-111111111111";
// As the real one does: it keeps its sessions on disk, whichever process began them.
const known = () =>
  existsSync(`${file}.sessions`) ? readFileSync(`${file}.sessions`, "utf8").split("\n") : [];

const answers = new Map();
let turn = 0;
let doing = Promise.resolve();

const deeds = {
  line: (line) => say({ session_id: session, ...line }),
  raw: (text) => process.stdout.write(text),
  stderr: (text) => process.stderr.write(text),
  flood: (times) => {
    for (let at = 0; at < times; at += 1) process.stdout.write(`noise ${at}\n`);
  },
  ask: (request) =>
    new Promise((done) => {
      const id = `ask-${answers.size + 1}`;
      answers.set(id, done);
      say({ type: "control_request", request_id: id, request: { subtype: "can_use_tool", ...request } });
      // Asked for what nobody will answer in time.
      if (request.withdrawn) {
        say({ type: "control_cancel_request", request_id: id });
        done();
      }
    }),
  child: (detached) => {
    const child = spawn("sleep", ["600"], { stdio: "ignore", detached });
    log({ child: child.pid });
  },
  wait: (path) =>
    new Promise((done) => {
      const look = setInterval(() => {
        if (!existsSync(path)) return;
        clearInterval(look);
        done();
      }, 10);
    }),
  hang: () => new Promise(() => setInterval(() => {}, 1_000)),
  exit: (code) =>
    new Promise(() => {
      process.exitCode = code;
      process.stdout.write("", () => process.exit(code));
    }),
};

async function perform(list) {
  for (const deed of list) {
    const [name, given] = Object.entries(deed)[0];
    await deeds[name](given);
  }
}

function begin() {
  const own = script.tools ?? [];
  const list = script.turns[Math.min(turn, script.turns.length - 1)];
  turn += 1;
  writeFileSync(`${file}.sessions`, [...known(), session].join("\n"));
  say({ type: "system", subtype: "init", session_id: session, tools: own });
  return perform(list);
}

function control({ request_id, request }) {
  const answer = (response) =>
    say({ type: "control_response", response: { subtype: "success", request_id, response } });
  if (request.subtype === "initialize") return answer({ commands: [] });
  if (request.subtype === "mcp_set_servers")
    return answer({ added: Object.keys(request.servers), removed: [], errors: script.bridgeErrors ?? {} });
  return say({ type: "control_response", response: { subtype: "error", request_id, error: "unknown" } });
}

await perform(script.start ?? []);
if (resumed !== undefined && !known().includes(resumed)) {
  const words = `No conversation found with session ID: ${resumed}`;
  say({
    type: "result",
    subtype: "error_during_execution",
    is_error: true,
    session_id: resumed,
    errors: [words],
  });
  process.stderr.write(`${words}\n`);
  process.exitCode = 1;
} else {
  onLines(
    process.stdin,
    (text) => {
      const line = JSON.parse(text);
      log({ got: line });
      if (line.type === "control_request") control(line);
      else if (line.type === "control_response") answers.get(line.response.request_id)?.();
      else if (line.type === "user") doing = doing.then(begin);
    },
    () => {
      if (!script.stubborn) process.exit(0);
      setInterval(() => {}, 1_000);
    },
  );
}
