import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { changeConfig, findSecret, validate } from "../../src/atsf/index.js";
import { freshProject } from "./support.js";

/** Put together here, so that no scanner takes this file for a leak. */
const key = (prefix: string, rest: string) => prefix + rest;
const random = "9f8A7b6C5d4E3f2A1b0C9d8E7f6A5b4C";

const secrets: object[] = [
  { x: key("sk-", "abcdefghijklmnopqrst") },
  { x: key("sk-ant-", `api03-${random}`) },
  { x: key("ghp_", random) },
  { x: key("github_pat_", random) },
  { x: key("glpat-", random) },
  { x: key("xoxb-", "123456789012-abcdef") },
  { x: key("AKIA", "ABCDEFGHIJKLMNOP") },
  { x: key("AIza", `${random}abc`) },
  { x: key("npm_", random) },
  { x: key("hf_", random) },
  { x: key("eyJ", "hbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKKF2QT4") },
  { x: "-----BEGIN RSA PRIVATE KEY-----\nMIIE" },
  { x: `curl -H 'Authorization: Bearer ${key("sk-", "abcdefghijklmnopqrst")}'` },
  { x: `curl -H "Authorization: Bearer ${random}"` },
  { x: "git clone https://bob:hunter2000@example.org/x.git" },
  { worktreeHooks: { postSetupCommands: [{ command: `export API_KEY=${random} && npm start` }] } },
  { worktreeHooks: { postSetupCommands: [{ command: `deploy --auth-token=${random}` }] } },
  { worktreeHooks: { postSetupCommands: [{ command: 'echo "password: correcthorse" > .env' }] } },
  { worktreeHooks: { initialPrompt: `Use ${key("sk-", "abcdefghijklmnopqrst")} to log in.` } },
  { agentSettings: { a: { apiKey: "something" } } },
  { agentSettings: { a: { env: { OPENAI_API_KEY: "abcdefgh" } } } },
  { agentSettings: { a: { client_secret: "abcdefgh" } } },
  { agentSettings: { a: { "db-password": "hunter2hunter2" } } },
  { agentSettings: { a: { token: random } } },
  { agentSettings: { a: { deep: [{ accessToken: random }] } } },
  { password: "abcdefgh" },
];

const harmless: object[] = [
  { tokens: 5, maxTokens: 4096, tokenizer: "cl100k_base_long_name", tokenLimit: "200000tokens" },
  { "max-output-tokens": "1234567890123456789" },
  { token: "disabled", stopToken: "<|endoftext|>", eosToken: "</answer>" },
  { apiKey: "$API_KEY", secret: key("$", "{MY_SECRET}"), password: "%PASSWORD%", token: "{{ token }}" },
  { apiKey: "<your key here>", credential: "env:MY_CREDENTIAL", privateKey: "~/.ssh/id_rsa" },
  {
    apiKeyEnv: "OPENAI_API_KEY_PRODUCTION",
    secretName: "projects/1/secrets/x",
    passwordField: "input#password",
  },
  { keyboard: "ctrl+shift+alt+p", key: "some-long-key-binding", monkey: "capuchin-monkey" },
  { model: "claude-sonnet-4-5-20250929", commit: "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
  { command: "export API_KEY=$KEY && npm ci" },
  { command: 'export API_KEY="$(op read op://vault/item)"' },
  { command: "export MAX_TOKENS=1000000000 TOKENIZER=cl100k_base_long_name" },
  { command: "cd packages/task-runner-sk-learn-contrib-tools && npm test" },
  { command: "curl https://example.org:8080/a@b" },
  { prompt: "Ask before you change a password. Tokens: be brief. Secret: there is none here." },
  { apiKey: "", secret: "short", token: null, password: 12345678 },
];

test("[ATSF22] keys are found by their shape anywhere in a text, and by their name", () => {
  for (const value of secrets) expect(findSecret(value), JSON.stringify(value)).toBeDefined();
  expect(findSecret({ a: 1, b: { c: ["x", { apiKey: "abcdefgh" }] } })).toBe("b.c.1.apiKey");
});

test("[ATSF22] numbers of tokens, references and ordinary words are no secrets", () => {
  for (const value of harmless) expect(findSecret(value), JSON.stringify(value)).toBeUndefined();
});

test("[ATSF22] a long text without a space is looked through as well", () => {
  const long = `${"x".repeat(2_000_000)}:${"eyJ-".repeat(5_000)}${"sk-".repeat(5_000)}${"a.b-".repeat(100_000)}`;
  expect(findSecret({ long })).toBeUndefined();
  expect(findSecret({ long: `${long} ${key("ghp_", random)}` })).toBe("long");
});

test("[ATSF22] a config with a secret is refused on write and reported on read, each of them", async () => {
  const { root } = await freshProject();
  const by = { name: "Test", version: "1.0.0" };
  await changeConfig(root, by, [{ path: ["defaults", "agentId"], value: "a" }]);
  const file = join(root, ".agent", "config.json");
  const before = readFileSync(file, "utf8");
  const command = `export API_KEY=${key("sk-", random)}`;
  const hooks = { path: ["worktreeHooks"], value: { postSetupCommands: [{ command }] } };
  await expect(changeConfig(root, by, [hooks])).rejects.toMatchObject({
    kind: "atsf.secret",
    data: { path: "worktreeHooks.postSetupCommands.0.command" },
    message: expect.not.stringContaining("sk-"),
  });
  expect(readFileSync(file, "utf8")).toBe(before);
  writeFileSync(file, JSON.stringify({ specVersion: "1.1", a: { password: "abcdefgh" }, x: command }));
  const told: string[] = [];
  for await (const { problem, message } of validate(root)) told.push(`${problem}: ${message}`);
  expect(told).toEqual([
    "secret: a.password looks like a key or token.",
    "secret: x looks like a key or token.",
  ]);
});
