import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isSignedIn, keysOfCodex } from "./sign-in.js";

interface Given {
  readonly files?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly platform?: NodeJS.Platform;
}

/** A home with these files. */
function homeWith(files: Readonly<Record<string, string>>): string {
  const home = mkdtempSync(join(tmpdir(), "heddle-sign-in-"));
  onTestFinished(() => rmSync(home, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  return home;
}

function state(program: string, { files = {}, env = {}, platform = "linux" }: Given): boolean | undefined {
  const home = homeWith(files);
  const filled = Object.entries(env).map(([name, value]) => [name, value.replace("~", home)]);
  return isSignedIn(program, { HOME: home, ...Object.fromEntries(filled) }, platform);
}

const token = '{"token": "sk-not-shown"}';

test.each<[program: string, given: Given]>([
  ["claude", { files: { ".claude/.credentials.json": token } }],
  ["claude", { files: { "elsewhere/.credentials.json": token }, env: { CLAUDE_CONFIG_DIR: "~/elsewhere" } }],
  ["claude", { files: { ".claude/settings.json": '{"apiKeyHelper": "/bin/key"}' } }],
  ["claude", { files: { ".claude/settings.json": '{"env": {"ANTHROPIC_AUTH_TOKEN": "t"}}' } }],
  ["claude", { files: { ".claude.json": '{"primaryApiKey": "sk-x"}' } }],
  ["claude", { env: { ANTHROPIC_API_KEY: "k" } }],
  ["claude", { env: { CLAUDE_CODE_OAUTH_TOKEN: "k" } }],
  ["codex", { files: { ".codex/auth.json": token } }],
  ["codex", { files: { "c/auth.json": token }, env: { CODEX_HOME: "~/c" } }],
  ["codex", { files: { ".codex/config.toml": 'model = "m"\nmodel_provider = "mine"\n' } }],
  ["pi", { files: { ".pi/agent/auth.json": token } }],
  ["pi", { files: { ".pi/agent/models.json": '{"providers": {}}' } }],
  ["pi", { files: { "p/auth.json": token }, env: { PI_CODING_AGENT_DIR: "~/p" } }],
  ["pi", { env: { OPENROUTER_API_KEY: "k" } }],
  ["gemini", { files: { ".gemini/oauth_creds.json": token } }],
  ["gemini", { env: { GEMINI_API_KEY: "k" } }],
  ["gemini", { env: { GOOGLE_GENAI_USE_VERTEXAI: "true" } }],
  ["opencode", { files: { ".local/share/opencode/auth.json": token } }],
  ["opencode", { files: { "d/opencode/auth.json": token }, env: { XDG_DATA_HOME: "~/d" } }],
  ["opencode", { files: { ".config/opencode/opencode.json": '{"provider": {"mine": {}}}' } }],
  ["opencode", { env: { ANTHROPIC_API_KEY: "k" } }],
])("[PDT20] signed in: %s %j", (program, given) => {
  expect(state(program, given)).toBe(true);
  expect(state(program, { ...given, platform: "darwin" })).toBe(true);
});

test.each<[program: string, given: Given]>([
  ["claude", {}],
  ["claude", { files: { ".claude/settings.json": '{"theme": "dark"}', ".claude.json": "{}" } }],
  ["claude", { env: { ANTHROPIC_API_KEY: "", OPENAI_API_KEY: "k" } }],
  ["codex", {}],
  ["codex", { files: { ".codex/config.toml": '# model_provider = "mine"\nmodel = "m"\n' } }],
  // It does not look at these where it is kept for a thread.
  ["codex", { env: { OPENAI_API_KEY: "k", CODEX_API_KEY: "k" } }],
  ["pi", {}],
  // It makes this file itself, with nothing in it.
  ["pi", { files: { ".pi/agent/auth.json": "{}" } }],
  ["gemini", {}],
  ["gemini", { files: { ".gemini/settings.json": '{"ui": {}}' } }],
])("[PDT20] not signed in: %s %j", (program, given) => {
  expect(state(program, given)).toBe(false);
});

test.each<[program: string, given: Given]>([
  ["claude", { platform: "darwin" }],
  ["claude", { env: { CLAUDE_CODE_USE_BEDROCK: "1" } }],
  ["claude", { files: { ".claude/settings.json": '{"env": {"CLAUDE_CODE_USE_VERTEX": "1"}}' } }],
  ["codex", { platform: "darwin" }],
  ["codex", { files: { ".codex/config.toml": 'cli_auth_credentials_store = "keyring"' } }],
  ["codex", { env: { CODEX_ACCESS_TOKEN: "t" } }],
  ["gemini", { env: { GOOGLE_API_KEY: "k" } }],
  ["gemini", { files: { ".gemini/.env": "GEMINI_API_KEY=k\n" } }],
  ["gemini", { files: { ".gemini/settings.json": '{"security": {"auth": {"selectedType": "x"}}}' } }],
  ["opencode", {}],
  ["another", {}],
  ["__proto__", {}],
])("[PDT21] not certain: %s %j", (program, given) => {
  expect(state(program, given)).toBeUndefined();
});

test("[PDT20] a directory, or a file that can't be read, is no sign-in, and throws nothing", () => {
  const home = homeWith({ ".codex/auth.json/x": "", ".codex/config.toml/x": "" });
  expect(isSignedIn("codex", { HOME: home }, "linux")).toBe(false);
  expect(keysOfCodex({ HOME: home })).toEqual([]);
  expect(isSignedIn("codex", { HOME: "/nonexistent/\u0000" }, "linux")).toBe(false);
});
