import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { AgentSet, configJsonSchema, parseConfig } from "../../src/agents/index.js";
import { define, load } from "./support.js";

const sample = readFileSync("test/agents/sample.config.json", "utf8");

describe("what is taken", () => {
  test("[AGT1] 002's sample loads as it stands", () => {
    const { config, warnings } = load(sample);
    expect(warnings).toEqual([]);
    const [readingList, todo, journal, general] = config.agents;
    expect(config.agents).toHaveLength(4);
    expect(readingList).toMatchObject({
      agentId: "reading-list",
      displayName: "Reading List Manager",
      description: "",
      type: "chat",
      systemPrompt: expect.stringMatching(/^You are a reading list manager\. .* mark items as read\.$/),
      toolAllowlist: ["reading_list_*"],
      toolDenylist: ["reading_list_delete"],
      toolExposure: "mixed",
      skillAllowlist: ["notes"],
      skillDenylist: null,
      capabilityAllowlist: ["lists.*"],
      capabilityDenylist: ["lists.write"],
      agentAllowlist: ["todo", "journal"],
      agentDenylist: null,
      uiVisible: true,
      apiExposed: false,
    });
    expect(todo).toMatchObject({ agentId: "todo", toolAllowlist: ["todo_*"], toolExposure: "tools" });
    expect(journal).toMatchObject({ agentId: "journal", toolAllowlist: ["journal_*"] });
    expect(general).toMatchObject({ agentId: "general", toolAllowlist: null, chat: { provider: "openai" } });
    expect(
      new AgentSet({ config, env: {} }).list().map(({ available, reason }) => [available, reason]),
    ).toEqual(Array(4).fill([false, expect.stringContaining("OPENAI_API_KEY")]));
    expect(
      new AgentSet({ config, env: { OPENAI_API_KEY: "k" } }).list().every(({ available }) => available),
    ).toBe(true);
  });

  test("[AGT2] every key is kept", () => {
    const lists = {
      toolAllowlist: ["a"],
      toolDenylist: ["b"],
      skillAllowlist: ["c"],
      skillDenylist: ["d"],
      capabilityAllowlist: ["e"],
      capabilityDenylist: ["f"],
      agentAllowlist: ["g"],
      agentDenylist: ["h"],
    };
    const own = {
      displayName: "Ada",
      description: "Counts.",
      type: "external",
      systemPrompt: "You count.",
      toolExposure: "skills",
      toolApprovals: { allow: ["x"], ask: ["y"], deny: ["z"] },
      ownTools: true,
      uiVisible: false,
      apiExposed: true,
      color: "#a1b2c3",
      ...lists,
    };
    const external = {
      inputUrl: "https://example.com/in",
      callbackBaseUrl: "http://127.0.0.1:4170",
      headers: { a: "b" },
    };
    const options = { baseURL: "http://127.0.0.1:1/v1", args: ["-x"], env: { A: "1" }, mine: { kept: [1] } };
    const chat = {
      provider: "anthropic",
      model: "m",
      contextWindow: 9,
      maxTokens: 8,
      reasoningEffort: "low",
    };
    const { config, warnings } = load({
      $schema: "./heddle_config.json",
      agents: [{ agentId: "a", ...own, external, chat: { ...chat, config: options } }],
      plugins: { lists: { enabled: false, anything: { goes: true } } },
      mcpServers: {
        files: { type: "stdio", command: "mcp-files", args: ["--root", "."], env: { A: "1" }, cwd: "." },
        far: { url: "https://example.com/mcp", headers: { authorization: "Bearer x" }, enabled: false },
      },
      limits: { maxDelegationDepth: 0, maxDelegationHops: 3 },
    });
    const [agent] = config.agents;
    expect(agent).toMatchObject({ agentId: "a", origin: "config", ...own, chat });
    expect(agent?.external?.open()).toEqual(external);
    expect(agent?.chat.config.open()).toEqual(options);
    expect(config.plugins.open()).toEqual({ lists: { enabled: false, anything: { goes: true } } });
    expect(Object.keys(config.mcpServers.open())).toEqual(["files", "far"]);
    expect(config.mcpServers.open().far?.headers).toEqual({ authorization: "Bearer x" });
    expect(config.limits).toEqual({ maxDelegationDepth: 0, maxDelegationHops: 3 });
    expect(warnings.map(({ key }) => key)).toEqual(["agents[0].chat.config.mine"]);
  });

  test("[AGT2] what is left open has a value", () => {
    const { config } = load('{"agents": [{"agentId": "a.b_c-1"}]}');
    expect(JSON.parse(JSON.stringify(config))).toEqual({
      agents: [
        {
          agentId: "a.b_c-1",
          displayName: "a.b_c-1",
          description: "",
          origin: "config",
          type: "chat",
          chat: { provider: "openai", config: "[sealed]" },
          toolAllowlist: null,
          toolDenylist: null,
          toolExposure: "tools",
          skillAllowlist: null,
          skillDenylist: null,
          capabilityAllowlist: null,
          capabilityDenylist: null,
          agentAllowlist: null,
          agentDenylist: null,
          toolApprovals: { allow: [], ask: [], deny: [] },
          ownTools: false,
          uiVisible: true,
          color: expect.stringMatching(/^[a-z]{4,9}$/),
        },
      ],
      plugins: "[sealed]",
      variables: [],
      mcpServers: "[sealed]",
      hooks: [],
      limits: { maxDelegationDepth: 1, maxDelegationHops: 8 },
      ownLimits: {},
    });
    expect(load("{}").config.agents).toEqual([]);
  });

  test("[AGT3] comments and trailing commas are fine", () => {
    const text =
      '// who\n{ /* all */ "agents": [{ "agentId": "a", "systemPrompt": "// no comment", },], } // end\n';
    expect(load(text).config.agents[0]?.systemPrompt).toBe("// no comment");
    expect(load(text.replaceAll("\n", "\r\n")).warnings).toEqual([]);
  });

  test("[AGT9] null and nothing set no limit, an empty list stays empty", () => {
    expect(define({ toolAllowlist: null, agentDenylist: null, skillAllowlist: [] })).toMatchObject({
      toolAllowlist: null,
      toolDenylist: null,
      agentDenylist: null,
      skillAllowlist: [],
    });
  });
});

describe("warnings", () => {
  test("[AGT4] an unknown key, with the one that was meant", () => {
    const { warnings } = load(`{
      "agent": [],
      "agents": [{
        "agentId": "a",
        "system_prompt": "x",
        "toolAllowList": [],
        "banana": 1,
        "chat": { "modell": "m", "config": { "apikey": "k", "baseUrl": "http://127.0.0.1" } },
        "external": { "inputUrl": "https://example.com", "header": {} },
        "toolApprovals": { "alow": [] }
      }],
      "mcpServers": { "s": { "command": "x", "arguments": [] } },
      "plugins": { "lists": { "whatever": 1 } },
      "limits": { "maxDepth": 1 }
    }`);
    expect(warnings.map(({ line, key, nearest }) => [line, key, nearest])).toEqual([
      [2, "agent", "agents"],
      [5, "agents[0].system_prompt", "systemPrompt"],
      [6, "agents[0].toolAllowList", "toolAllowlist"],
      [7, "agents[0].banana", undefined],
      [8, "agents[0].chat.modell", "model"],
      [8, "agents[0].chat.config.apikey", "apiKey"],
      [8, "agents[0].chat.config.baseUrl", "baseURL"],
      [9, "agents[0].external.header", "headers"],
      [10, "agents[0].toolApprovals.alow", "allow"],
      [12, "mcpServers.s.arguments", undefined],
      [14, "limits.maxDepth", undefined],
    ]);
    expect(warnings[2]).toEqual({
      file: "heddle.config.json",
      line: 6,
      key: "agents[0].toolAllowList",
      nearest: "toolAllowlist",
      message:
        'heddle.config.json:6: agents[0].toolAllowList is not a key that is known here. Did you mean "toolAllowlist"?',
    });
  });

  test("[AGT4] a provider nobody knows", () => {
    const chat = (provider: string) => load({ agents: [{ agentId: "a", chat: { provider } }] }).warnings;
    expect(chat("opnai")).toMatchObject([{ key: "agents[0].chat.provider", nearest: "openai" }]);
    for (const known of ["openai-compatible", "google", "demo", "claude-cli", "codex-cli", "pi-cli", "acp"]) {
      expect(chat(known), known).toEqual([]);
    }
  });

  test("[AGT4] two letters that changed places are one mistake, however deep the key stands", () => {
    const { warnings } = load({ agentz: [], agents: [{ agentId: "a", chat: { modle: "m" }, cloor: "red" }] });
    expect(warnings.map(({ key, nearest }) => [key, nearest])).toEqual([
      ["agentz", "agents"],
      ["agents[0].cloor", "color"],
      ["agents[0].chat.modle", "model"],
    ]);
  });

  test("[AGT4] a plugin that there is not, where it is known which there are", () => {
    const plugins = { bsah: { enabled: false }, lists: {}, "mcp-of-a-project": {}, zzz: {} };
    expect(load({ plugins }).warnings).toEqual([]);
    const source = { file: "heddle.config.json", env: {}, plugins: ["bash", "lists", "mcp"] };
    const { warnings } = parseConfig(JSON.stringify({ plugins }, null, 1), source);
    expect(warnings.map(({ message }) => message)).toEqual([
      'heddle.config.json:3: plugins.bsah names no plugin. Did you mean "bash"?',
      "heddle.config.json:8: plugins.zzz names no plugin.",
    ]);
  });

  test("[AGT4] a file that is something else gives a bounded number", () => {
    const other = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key-${i}`, i]));
    expect(load(other).warnings).toHaveLength(100);
  });
});

describe("for editors", () => {
  const schema = z.fromJSONSchema(configJsonSchema() as Parameters<typeof z.fromJSONSchema>[0]);

  test("[AGT15] the JSON Schema takes what is taken", () => {
    expect(schema.safeParse(JSON.parse(sample)).error).toBeUndefined();
    expect(schema.safeParse({ $schema: "x", unknown: 1 }).success).toBe(true);
    expect(configJsonSchema()).toMatchObject({
      $schema: "http://json-schema.org/draft-07/schema#",
      allowComments: true,
      allowTrailingCommas: true,
    });
  });

  test("[AGT15] and refuses what is refused", () => {
    const wrong = [
      [],
      { agents: {} },
      { agents: [{}] },
      { agents: [{ agentId: "a b" }] },
      { agents: [{ agentId: "a", toolAllowlist: ["!x"] }] },
      { agents: [{ agentId: "a", toolExposure: "all" }] },
      { agents: [{ agentId: "a", chat: { maxTokens: 0 } }] },
      { hooks: [{ module: 7 }] },
      { limits: { maxDelegationDepth: "1" } },
    ];
    for (const value of wrong) expect(schema.safeParse(value).success, JSON.stringify(value)).toBe(false);
  });
});
