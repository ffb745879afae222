import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseConfig } from "../agents/index.js";
import { programEnv } from "./program-env.js";
import { Withheld } from "./withheld.js";

const plain = { PATH: "/bin", HOME: "/home/me", LANG: "C", HTTPS_PROXY: "http://127.0.0.1:1", EDITOR: "vi" };
const anthropic = {
  ANTHROPIC_API_KEY: "sk-anthropic-1",
  ANTHROPIC_BASE_URL: "http://127.0.0.1:1",
  CLAUDE_CODE_OAUTH_TOKEN: "oauth-1",
};
const openai = { OPENAI_API_KEY: "sk-openai-1", CODEX_HOME: "/home/me/.codex" };
const google = { GEMINI_API_KEY: "g-1", GOOGLE_API_KEY: "g-2", GOOGLE_CLOUD_PROJECT: "p" };
const aws = { AWS_ACCESS_KEY_ID: "AKIA", AWS_SECRET_ACCESS_KEY: "s", AWS_SESSION_TOKEN: "t" };
const services = { OPENROUTER_API_KEY: "or-1", HF_TOKEN: "hf" };
const others = { GITHUB_TOKEN: "gh", DB_PASSWORD: "p", SENDGRID_API_KEY: "sg", GIT_DIR: "/x" };
const all = { ...plain, ...anthropic, ...openai, ...google, ...aws, ...services, ...others };

const seen = (known: string | undefined, env: NodeJS.ProcessEnv = all, own: Record<string, string> = {}) =>
  programEnv({ known, env: own }, env, new Withheld(undefined).names());

test.each<[program: string | undefined, secrets: object]>([
  ["claude", anthropic],
  ["codex", openai],
  ["gemini", google],
  ["pi", { ...anthropic, ...openai, ...google, ...aws, ...services }],
  ["opencode", { ...anthropic, ...openai, ...google, ...aws, ...services }],
])("[PDT30] %s sees its own secrets, and no others", (program, secrets) => {
  expect(seen(program)).toEqual({ ...plain, ...secrets });
});

test("[PDT30] an ACP agent that nobody knows sees the keys of the model APIs that Heddle knows", () => {
  const { CLAUDE_CODE_OAUTH_TOKEN: _, ...keys } = anthropic;
  expect(seen(undefined)).toEqual({ ...plain, ...keys, OPENAI_API_KEY: "sk-openai-1", ...google });
});

test("[PDT30] codex sees the variables that its own configuration takes keys from", () => {
  const home = mkdtempSync(join(tmpdir(), "heddle-env-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  mkdirSync(join(home, ".codex"));
  const lines = ["[model_providers.mine]", 'env_key = "MINE_KEY"', '# env_key = "DB_PASSWORD"'];
  lines.push("[model_providers.odd]", 'env_key = "HEDDLE_TOKEN"');
  writeFileSync(join(home, ".codex", "config.toml"), lines.join("\n"));
  const env = { HOME: home, MINE_KEY: "m", DB_PASSWORD: "p", HEDDLE_TOKEN: "t" };
  expect(seen("codex", env)).toEqual({ HOME: home, MINE_KEY: "m" });
  expect(seen("codex", { ...env, HOME: "/none" }, { CODEX_HOME: join(home, ".codex") })).toMatchObject({
    MINE_KEY: "m",
  });
  expect(seen("claude", env)).toEqual({ HOME: home });
});

test("[PDT30] what the configuration was filled with is seen only by whom it is given to", () => {
  const variable = `$${"{"}PLAIN}`;
  const agents = [{ agentId: "a", chat: { model: "m", config: { apiKey: variable } } }];
  const env = { PATH: "/bin", PLAIN: "a-key-of-another", OPENAI_API_KEY: "sk-openai-1" };
  const { config } = parseConfig(JSON.stringify({ agents }), { file: "/c/heddle.config.json", env });
  const names = new Withheld(config).names();
  expect(programEnv({ known: "claude", env: {} }, env, names)).toEqual({ PATH: "/bin" });
  const own = { PLAIN: "a-key-of-another" };
  expect(programEnv({ known: "claude", env: own }, env, names)).toEqual({ PATH: "/bin", ...own });
});

test("[PDT31] nothing of the gateway's own, and no mark of a session around it", () => {
  const marks = {
    HEDDLE_TOKEN: "t",
    HEDDLE_URL: "u",
    CLAUDECODE: "1",
    CLAUDE_CODE_ENTRYPOINT: "cli",
    CLAUDE_CODE_SSE_PORT: "1",
    CLAUDE_CODE_SESSION_ID: "s",
    CLAUDE_CODE_OAUTH_TOKEN_FILE_DESCRIPTOR: "3",
    CLAUDE_CODE_EVEN_MORE_DANGEROUSLY_SKIP_PERMISSIONS: "1",
    CODEX_SANDBOX: "seatbelt",
    CODEX_THREAD_ID: "x",
    GEMINI_CLI: "1",
    OPENCODE: "1",
  };
  for (const program of ["claude", "codex", "pi", "gemini", "opencode", undefined]) {
    expect(Object.keys(seen(program, { ...all, ...marks })), program).toEqual(Object.keys(seen(program)));
  }
});

test("[PDT32] a cloud's credentials only for those who are told to use it", () => {
  expect(seen("claude")).not.toHaveProperty("AWS_SECRET_ACCESS_KEY");
  expect(seen("claude", { ...all, CLAUDE_CODE_USE_BEDROCK: "1" })).toMatchObject(aws);
  expect(seen("claude", { ...all, CLAUDE_CODE_USE_VERTEX: "1" })).toMatchObject(google);
  expect(seen("claude", all, { CLAUDE_CODE_USE_BEDROCK: "1" })).toMatchObject(aws);
  expect(seen("claude", { ...all, CLAUDE_CODE_USE_BEDROCK: "" })).not.toHaveProperty("AWS_SESSION_TOKEN");
});

test("[PDT33] no key of the environment goes to an address that the configuration names", () => {
  const own = { ANTHROPIC_BASE_URL: "http://127.0.0.1:2" };
  expect(seen("claude", all, own)).toEqual({ ...plain, ...own });
  const both = { ...own, ANTHROPIC_API_KEY: "own" };
  expect(seen("claude", all, both)).toEqual({ ...plain, ...both });
});
