import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ServerTurn } from "../support/model-server/script.js";
import { cleanEnv, programPath } from "./support.js";

/** A real program as an agent of a configuration, whose model is the scripted server. */
export interface RealAgent {
  readonly name: string;
  /** The agent's entry, after its settings were put into a home of its own. */
  entry(url: string, home: string, more?: object): object;
  /** A turn of the model that runs a command with the program's own tool. */
  command(command: string): ServerTurn;
  /** A turn of the model that calls a tool of the bridge. */
  bridged(name: string, given: object): ServerTurn;
}

const calls = (name: string, given: object): ServerTurn => ({
  steps: [{ tool_call: { id: `call_${name}`, name, arguments: JSON.stringify(given) } }],
});

const entry = (name: string, chat: object, more: object) => ({
  agentId: name,
  displayName: name,
  description: "",
  chat,
  ...more,
});

const claude: RealAgent = {
  name: "claude",
  entry: (url, home, more = {}) =>
    entry(
      "claude",
      {
        provider: "claude-cli",
        model: "fake",
        config: {
          command: programPath("claude"),
          env: own(home, {
            ANTHROPIC_BASE_URL: url,
            ANTHROPIC_API_KEY: "no-real-key",
            CLAUDE_CODE_MAX_RETRIES: "0",
          }),
        },
      },
      more,
    ),
  command: (command) => calls("Bash", { command, description: "x" }),
  bridged: (name, given) => calls(`mcp__heddle__${name}`, given),
};

const codex: RealAgent = {
  name: "codex",
  entry(url, home, more = {}) {
    const directory = join(home, ".codex");
    mkdirSync(directory, { recursive: true });
    writeFileSync(
      join(directory, "config.toml"),
      `model_provider="fake"\nmodel="gpt-5.5"\n[model_providers.fake]\nname="fake"\nbase_url="${url}/v1"\nenv_key="FAKE_KEY"\nwire_api="responses"\n`,
    );
    const env = own(home, { CODEX_HOME: directory, FAKE_KEY: "no-real-key" });
    return entry(
      "codex",
      { provider: "codex-cli", model: "gpt-5.5", config: { command: programPath("codex"), env } },
      more,
    );
  },
  command: (command) => calls("exec_command", { cmd: command }),
  bridged: (name, given) => ({
    steps: [
      {
        name: "response.output_item.done",
        event: {
          type: "response.output_item.done",
          item: {
            type: "function_call",
            id: `fc_${name}`,
            call_id: `call_${name}`,
            namespace: "mcp__heddle",
            name,
            arguments: JSON.stringify(given),
          },
        },
      },
    ],
  }),
};

const pi: RealAgent = {
  name: "pi",
  entry(url, home, more = {}) {
    const directory = join(home, ".pi/agent");
    mkdirSync(directory, { recursive: true });
    const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
    const model = { id: "fake", name: "fake", reasoning: true, input: ["text"], cost };
    const models = [{ ...model, contextWindow: 400_000, maxTokens: 4096 }];
    const fake = { baseUrl: `${url}/v1`, apiKey: "FAKE_KEY", api: "openai-completions", models };
    writeFileSync(join(directory, "models.json"), JSON.stringify({ providers: { fake } }));
    const config = { command: programPath("pi"), env: own(home, { FAKE_KEY: "no-real-key" }) };
    return entry("pi", { provider: "pi-cli", model: "fake/fake", config }, more);
  },
  command: (command) => calls("bash", { command }),
  bridged: (name, given) => calls(name, given),
};

/** All of what a program needs that it must not take from this machine. */
function own(home: string, more: Readonly<Record<string, string>>): Record<string, string> {
  const env = cleanEnv(home, more);
  const { PATH: _, ...rest } = env;
  return { XDG_CONFIG_HOME: join(home, ".config"), ...(rest as Record<string, string>) };
}

/** Agents that speak ACP. */
const gemini: RealAgent = {
  name: "gemini",
  entry(url, home, more = {}) {
    const env = own(home, { GEMINI_API_KEY: "no-real-key", GOOGLE_GEMINI_BASE_URL: url });
    const config = { command: programPath("gemini"), args: ["--acp"], env };
    return entry("gemini", { provider: "acp", model: "gemini-2.5-pro", config }, more);
  },
  command: (command) => calls("run_shell_command", { command }),
  bridged: (name, given) => calls(`mcp_heddle_${name}`, given),
};

const opencode: RealAgent = {
  name: "opencode",
  entry(url, home, more = {}) {
    const options = { baseURL: `${url}/v1`, apiKey: "no-real-key" };
    const models = { m1: { name: "M1" } };
    const provider = { fake: { npm: "@ai-sdk/openai-compatible", name: "Fake", options, models } };
    const content = { model: "fake/m1", small_model: "fake/m1", provider };
    const env = own(home, { OPENCODE_CONFIG_CONTENT: JSON.stringify(content) });
    const config = { command: programPath("opencode"), args: ["acp"], env };
    return entry("opencode", { provider: "acp", model: "fake/m1", config }, more);
  },
  command: (command) => calls("bash", { command, description: "x" }),
  bridged: (name, given) => calls(`heddle_${name}`, given),
};

export const realAgents: readonly RealAgent[] = [claude, codex, pi];
export const acpAgents: readonly RealAgent[] = [gemini, opencode];
