import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ServerTurn } from "../support/model-server/script.js";
import type { ModelServer } from "../support/model-server/server.js";
import { cleanEnv, programPath } from "./support.js";

/** A real program that is asked twice, in one session, and leaves its files in a home of its own. */
export interface SessionMaker {
  readonly tool: "claude" | "codex" | "pi" | "opencode";
  /** One turn of a session; `again` continues the last one. */
  ask(at: MakerStage, text: string, again: boolean): Promise<void>;
  /** A turn of the model that runs a command with the program's own tool. */
  command(id: string, command: string): ServerTurn;
  /** A turn of the model that writes a file with it. */
  write(id: string, path: string, text: string): ServerTurn;
}

export interface MakerStage {
  readonly home: string;
  readonly directory: string;
  readonly server: ModelServer;
}

const usage = { usage: { input: 11, output: 7 } };
const calls = (id: string, name: string, given: object): ServerTurn => ({
  steps: [
    { thinking: `THOUGHT-${id}` },
    { text: `SAID-${id}` },
    { tool_call: { id, name, arguments: JSON.stringify(given) } },
    usage,
  ],
});

export const answers = (text: string): ServerTurn => ({ steps: [{ text: [text] }, usage] });

async function run(name: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv) {
  const running = promisify(execFile)(programPath(name), args, {
    cwd,
    env,
    timeout: 100_000,
    maxBuffer: 64 * 1024 * 1024,
  });
  running.child.stdin?.end();
  return running;
}

const claude: SessionMaker = {
  tool: "claude",
  async ask({ home, directory, server }, text, again) {
    const env = cleanEnv(home, {
      ANTHROPIC_BASE_URL: server.url,
      ANTHROPIC_API_KEY: "no-real-key",
      CLAUDE_CODE_MAX_RETRIES: "0",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    });
    const allowed = ["--allowedTools", "Bash,Write,Edit,Task"];
    const args = ["-p", text, "--model", "fake", ...allowed, ...(again ? ["--continue"] : [])];
    await run("claude", args, directory, env);
  },
  command: (id, command) => calls(id, "Bash", { command, description: "x" }),
  write: (id, file_path, content) => calls(id, "Write", { file_path, content }),
};

const codex: SessionMaker = {
  tool: "codex",
  async ask({ home, directory, server }, text, again) {
    const at = join(home, ".codex");
    await mkdir(at, { recursive: true });
    const config = `model_provider="fake"\nmodel="gpt-5.5"\n[model_providers.fake]\nname="fake"\nbase_url="${server.url}/v1"\nenv_key="FAKE_KEY"\nwire_api="responses"\n`;
    await writeFile(join(at, "config.toml"), config);
    const env = cleanEnv(home, { CODEX_HOME: at, FAKE_KEY: "no-real-key" });
    const free = ["--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"];
    const args = again ? ["exec", "resume", ...free, "--last", text] : ["exec", ...free, text];
    await run("codex", args, directory, env);
  },
  command: (id, cmd) => calls(id, "exec_command", { cmd }),
  write: (id, path, text) => {
    const input = `*** Begin Patch\n*** Add File: ${path}\n+${text}\n*** End Patch\n`;
    const item = { type: "custom_tool_call", id: `ct_${id}`, call_id: id, name: "apply_patch", input };
    return {
      steps: [
        { name: "response.output_item.done", event: { type: "response.output_item.done", item } },
        usage,
      ],
    };
  },
};

const pi: SessionMaker = {
  tool: "pi",
  async ask({ home, directory, server }, text, again) {
    await mkdir(join(home, ".pi/agent"), { recursive: true });
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const model = { id: "fake", name: "fake", reasoning: true, input: ["text"], cost };
    const models = [{ ...model, contextWindow: 400_000, maxTokens: 4096 }];
    const api = "openai-completions";
    const fake = { baseUrl: `${server.url}/v1`, apiKey: "FAKE_KEY", api, models };
    await writeFile(join(home, ".pi/agent/models.json"), JSON.stringify({ providers: { fake } }));
    const env = cleanEnv(home, { FAKE_KEY: "no-real-key", PI_OFFLINE: "1" });
    const args = ["--provider", "fake", "--model", "fake", "--mode", "json", ...(again ? ["-c"] : [])];
    await run("pi", [...args, "-p", text], directory, env);
  },
  command: (id, command) => calls(id, "bash", { command }),
  write: (id, path, content) => calls(id, "write", { path, content }),
};

const opencode: SessionMaker = {
  tool: "opencode",
  async ask({ home, directory, server }, text, again) {
    const options = { baseURL: `${server.url}/v1`, apiKey: "no-real-key" };
    const provider = {
      fake: { npm: "@ai-sdk/openai-compatible", name: "Fake", options, models: { m1: { name: "M1" } } },
    };
    const content = { model: "fake/m1", small_model: "fake/m1", provider, permission: "allow" };
    const env = cleanEnv(home, {
      OPENCODE_CONFIG_CONTENT: JSON.stringify(content),
      XDG_DATA_HOME: join(home, ".local/share"),
      XDG_CONFIG_HOME: join(home, ".config"),
    });
    await run("opencode", ["run", ...(again ? ["--continue"] : []), text], directory, env);
  },
  command: (id, command) => calls(id, "bash", { command, description: "x" }),
  write: (id, filePath, content) => calls(id, "write", { filePath, content }),
};

export const sessionMakers: readonly SessionMaker[] = [claude, codex, pi, opencode];
