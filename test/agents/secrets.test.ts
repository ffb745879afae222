// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how a configuration names a variable
import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { type AgentDefinition, AgentSet, modelFor, providerConfig } from "../../src/agents/index.js";
import { createProvider } from "../../src/providers/index.js";
import { agentsOf, load, refusal } from "./support.js";

/** One that can stand anywhere, and be found anywhere. */
const SECRET = "hunter2hunter2";

/** Every way something is written down here, and some that it should not be. */
function writtenDown(value: unknown): string {
  const seen = [JSON.stringify(value), inspect(value, { depth: 20, showHidden: true }), String(value)];
  seen.push(JSON.stringify(structuredClone(JSON.parse(JSON.stringify(value)))));
  if (value instanceof Error) seen.push(value.message, value.stack ?? "", inspect(value.cause));
  return seen.join("\n");
}

/** Each place where a secret can stand, with what is around it. */
const places: Record<string, object> = {
  apiKey: { model: "m", config: { apiKey: "${SECRET}" } },
  "apiKey as it is": { model: "m", config: { apiKey: SECRET } },
  headers: { model: "m", config: { apiKey: "k", headers: { authorization: "Bearer ${SECRET}" } } },
  "a wrong key": { model: "m", config: { apiKey: "${SECRET} with spaces" } },
  "a wrong header": { model: "m", config: { apiKey: "k", headers: { a: "b", "x-key": "${SECRET}" } } },
  "a password in an address": { model: "m", config: { baseURL: "https://me:${SECRET}@example.com/v1" } },
  "a query in an address": { model: "m", config: { baseURL: "https://example.com/v1?key=${SECRET}" } },
  "an option nobody knows": { model: "m", config: { apiKey: "k", organisation: { token: "${SECRET}" } } },
  env: { provider: "claude-cli", config: { command: "claude", env: { KEY: "${SECRET}" } } },
  "env with args": { provider: "acp", config: { command: "x", args: ["--acp"], env: { KEY: "${SECRET}" } } },
};

describe("secrets stay where they are", () => {
  test.each(Object.entries(places))("[AGT20] %s", (_, chat) => {
    const env = { SECRET };
    const { config, warnings } = load({ agents: [{ agentId: "a", chat }] }, env);
    const agents = new AgentSet({ config, env });
    const agent = agents.require("a");
    const shown: unknown[] = [
      config,
      warnings,
      config.agents[0],
      agents,
      agent,
      agents.list(true),
      agents.toWire(agent),
    ];
    try {
      shown.push(modelFor(agent, {}), modelFor(agent, { model: "other" }));
    } catch (error) {
      shown.push(error);
    }
    for (const value of shown) expect(writtenDown(value)).not.toContain(SECRET);
    expect(JSON.stringify(agent.chat.config.open())).toContain(SECRET);
  });

  test("[AGT20] plugins, MCP servers, external agents", () => {
    const { config } = load(
      {
        agents: [
          {
            agentId: "a",
            type: "external",
            external: { inputUrl: "https://example.com/${SECRET}", headers: { "x-key": "${SECRET}" } },
          },
        ],
        plugins: { mail: { password: "${SECRET}" } },
        mcpServers: {
          one: { command: "x", env: { KEY: "${SECRET}" } },
          two: { url: "https://example.com/?k=${SECRET}", headers: { authorization: "${SECRET}" } },
        },
      },
      { SECRET },
    );
    for (const value of [config, new AgentSet({ config, env: {} }).list()]) {
      expect(writtenDown(value)).not.toContain(SECRET);
    }
    expect(JSON.stringify([config.plugins.open(), config.mcpServers.open()])).toContain(SECRET);
  });

  test("[AGT20] keys of the environment", () => {
    const env = { OPENAI_API_KEY: SECRET, ANTHROPIC_API_KEY: `${SECRET} x`, GEMINI_API_KEY: SECRET };
    const agents = new AgentSet({ env });
    const definitions = ["openai", "anthropic", "google"].map((id) => agents.require(id));
    const choice = modelFor(agents.require("demo"), { provider: "google" });
    const refused = refusal(() => modelFor(agents.require("anthropic"), {}));
    for (const value of [agents, agents.list(), ...definitions, choice, refused]) {
      expect(writtenDown(value)).not.toContain(SECRET);
    }
  });

  test("[AGT23] what a program is started with holds no variable that may be secret", () => {
    const entry = (config: object) => ({ agents: [{ agentId: "a", chat: { provider: "acp", config } }] });
    for (const [config, key] of [
      [{ command: "x", args: ["--token", "${SECRET}"] }, "args[1]"],
      [{ command: "x", args: ["--token=${SECRET}"] }, "args[0]"],
      [{ command: "x-${SECRET}" }, "command"],
    ] as const) {
      const error = refusal(() => load(entry(config), { SECRET }));
      expect(error).toMatchObject({
        kind: "config.invalid",
        data: { key: `agents[0].chat.config.${key}`, problem: expect.stringContaining("chat.config.env") },
      });
      expect(writtenDown(error)).not.toContain(SECRET);
    }
    const { config } = load(entry({ command: "${PLACE}/x", args: ["--mode", "${MODE}"] }), {
      PLACE: "/opt/agents",
      MODE: "fast",
    });
    const agent = new AgentSet({ config, env: {} }).require("a");
    expect(modelFor(agent, {}).options).toEqual({ command: "/opt/agents/x", args: ["--mode", "fast"] });
  });

  test("[AGT20] errors of a configuration that holds one", () => {
    const around = (fields: string) => `{"agents": [{"agentId": "a", ${fields}}]}`;
    const wrong = [
      around('"chat": {"config": {"apiKey": ["${SECRET}"]}}'),
      around('"chat": {"config": {"headers": {"a": "${SECRET}\\n"}}}'),
      around('"chat": {"config": {"headers": "${SECRET}"}}'),
      around('"chat": {"provider": "${SECRET}\\n"}'),
      around('"external": {"inputUrl": "http://example.com/${SECRET}"}'),
      around('"toolExposure": "${SECRET}"'),
      around('"toolAllowlist": ["!${SECRET}"]'),
      around('"color": "${SECRET}!"'),
      around('"extends": "${SECRET}"'),
      `{"hooks": [{"module": ["${SECRET}"]}]}`,
      `{"mcpServers": {"a": {"url": "ftp://example.com/${SECRET}"}}}`,
      `{"agents": [{"agentId": "a", "chat": {"config": {"apiKey": "${SECRET}`,
      `{"agents": [{"agentId": "a" "apiKey": "${SECRET}"}]}`,
    ];
    for (const text of wrong) {
      const error = refusal(() => load(text, { SECRET }));
      expect(writtenDown([error.message, error.data, error]), text).not.toContain(SECRET);
    }
  });
});

describe("where a key goes", () => {
  const config = {
    baseURL: "http://127.0.0.1:1/v1",
    apiKey: SECRET,
    headers: { "x-key": SECRET },
    timeouts: { silenceMs: 1_000 },
    retry: { retries: 1 },
    includeUsage: true,
    returnThinking: true,
    mine: { token: SECRET },
  };
  const chat = { provider: "openai-compatible", model: "m", config };
  const agentWith = (changed: object): AgentDefinition =>
    agentsOf([{ agentId: "a", chat: { ...chat, config: { ...config, ...changed } } }]).require("a");

  test("[AGT21] a choice has the options that are no secrets", () => {
    const { apiKey: _, headers: __, mine: ___, ...shown } = config;
    expect(modelFor(agentWith({}), {}).options).toEqual(shown);
    const options = { apiKey: "k", reasoningSummary: "auto" };
    const [openai] = load({ agents: [{ agentId: "a", chat: { model: "m", config: options } }] }).config
      .agents;
    expect(modelFor(openai as AgentDefinition, {}).options).toEqual({ reasoningSummary: "auto" });
  });

  test("[AGT21] a choice does not change with what it was made from", () => {
    const agent = agentWith({});
    const choice = modelFor(agent, {});
    (choice.options.timeouts as { silenceMs: number }).silenceMs = 5;
    expect(agent.chat.config.open().timeouts).toEqual({ silenceMs: 1_000 });
  });

  test("[AGT22] with the secret it makes a provider, which keeps it", async () => {
    const agent = agentWith({});
    const choice = modelFor(agent, {});
    expect(providerConfig(agent, choice)).toEqual(config);
    const provider = createProvider({ provider: choice.provider, config: providerConfig(agent, choice) });
    const sent = await provider.prepare({ model: choice.model, messages: [{ role: "user", content: "Hi" }] });
    expect(writtenDown([provider, sent])).not.toContain(SECRET);
  });

  test("[AGT22] today's key, yesterday's options", () => {
    const choice = modelFor(agentWith({}), {});
    const today = agentWith({ apiKey: "new", timeouts: { silenceMs: 9 } });
    expect(providerConfig(today, choice)).toMatchObject({ apiKey: "new", timeouts: { silenceMs: 1_000 } });
  });

  test("[AGT22] nor to another program, or to the same with other arguments", () => {
    const started = (command: string, ...args: string[]) =>
      agentsOf([
        { agentId: "a", chat: { provider: "acp", config: { command, args, env: { KEY: SECRET } } } },
      ]).require("a");
    const choice = modelFor(started("/bin/one", "--acp"), {});
    expect(choice.options).toEqual({ command: "/bin/one", args: ["--acp"] });
    expect(providerConfig(started("/bin/one", "--acp"), choice)).toEqual({
      command: "/bin/one",
      args: ["--acp"],
      env: { KEY: SECRET },
    });
    for (const other of [
      started("/bin/two", "--acp"),
      started("/bin/one"),
      started("/bin/one", "--acp", "x"),
    ]) {
      expect(refusal(() => providerConfig(other, choice)).data.reason).toContain("Ask again");
    }
  });

  test("[AGT22] not to an address that is another now", () => {
    const choice = modelFor(agentWith({}), {});
    const elsewhere = agentWith({ baseURL: "http://127.0.0.1:2/v1" });
    const other = agentsOf([{ agentId: "a", chat: { provider: "demo" } }]).require("a");
    for (const agent of [elsewhere, other]) {
      expect(refusal(() => providerConfig(agent, choice))).toMatchObject({
        kind: "agent.unavailable",
        data: { agent_id: "a", reason: expect.stringContaining("Ask again") },
      });
    }
    const own = agentsOf([{ agentId: "a", chat: { model: "m", config: { apiKey: SECRET } } }]).require("a");
    expect(refusal(() => providerConfig(own, { ...choice, provider: "openai" })).kind).toBe(
      "agent.unavailable",
    );
    const keyless = agentWith({ apiKey: "no key" });
    expect(refusal(() => providerConfig(keyless, choice)).data.reason).toContain("apiKey");
  });
});
