import { describe, expect, test } from "vitest";
import { type AgentDefinition, AgentSet, detectAgents } from "../../src/agents/index.js";
import { methods } from "../../src/protocol/index.js";
import { agentsOf, load, refusal } from "./support.js";

const demo = {
  agent_id: "demo",
  display_name: "Demo",
  description: "The built-in agent, which needs no key and no network.",
  type: "chat",
  provider: "demo",
  model: "demo",
  available: true,
  color: expect.stringMatching(/^[a-z]{4,9}$/),
  origin: "built_in",
};

const notes = {
  ...demo,
  agent_id: "demo-notes",
  display_name: "Demo Notes",
  description: "Keeps notes and lists for the demo agent, and has no other tools.",
};

const keys = { OPENAI_API_KEY: "sk-o", ANTHROPIC_API_KEY: "sk-a", GEMINI_API_KEY: "sk-g" };

describe("what is found", () => {
  test("[AGT30] nothing but demo and its helper in an empty environment", () => {
    expect(detectAgents({})).toEqual([]);
    const empty = { OPENAI_API_KEY: "", ANTHROPIC_API_KEY: undefined, OPENAI_BASE_URL: "http://127.0.0.1:1" };
    for (const env of [{}, empty]) {
      const agents = new AgentSet({ env });
      expect(agents.list()).toEqual([demo, notes]);
      expect(agents.fallback).toBe("demo");
    }
    expect(new AgentSet({ env: {}, config: load("{}").config }).list()).toEqual([demo, notes]);
  });

  test("[AGT30] one agent for each key, and demo", () => {
    const agents = new AgentSet({ env: keys });
    const shared = { type: "chat", available: true, origin: "detected", color: demo.color };
    expect(agents.list()).toEqual([
      {
        ...shared,
        agent_id: "openai",
        display_name: "OpenAI",
        description: "A general assistant with OpenAI's gpt-6.1-sol.",
        provider: "openai",
        model: "gpt-6.1-sol",
      },
      expect.objectContaining({
        ...shared,
        agent_id: "anthropic",
        provider: "anthropic",
        model: "claude-sonnet-5-5",
      }),
      expect.objectContaining({
        ...shared,
        agent_id: "google",
        provider: "google",
        model: "gemini-3.8-flash",
      }),
      demo,
      notes,
    ]);
    expect(agents.fallback).toBe("openai");
    expect(methods["agent/list"].result.parse({ data: agents.list() })).toEqual({ data: agents.list() });
    expect(new AgentSet({ env: { GOOGLE_GENERATIVE_AI_API_KEY: "k" } }).fallback).toBe("google");
  });

  const configOf = (id: string, env: Record<string, string>) =>
    detectAgents(env)
      .find(({ agentId }) => agentId === id)
      ?.chat.config.open();

  test("[AGT30] of two keys of Google's the first counts", () => {
    const both = { GOOGLE_GENERATIVE_AI_API_KEY: "two", GEMINI_API_KEY: "one" };
    expect(configOf("google", both)).toEqual({ apiKey: "one" });
  });

  test("[AGT31] addresses of the environment", () => {
    expect(configOf("openai", { ...keys, OPENAI_BASE_URL: "http://127.0.0.1:1/v1" })).toEqual({
      apiKey: "sk-o",
      baseURL: "http://127.0.0.1:1/v1",
    });
    const addresses = {
      "http://127.0.0.1:1": "http://127.0.0.1:1/v1",
      "http://127.0.0.1:1/": "http://127.0.0.1:1/v1",
      "http://127.0.0.1:1/v1": "http://127.0.0.1:1/v1",
      "https://example.com/api": "https://example.com/api/v1",
    };
    for (const [ANTHROPIC_BASE_URL, baseURL] of Object.entries(addresses)) {
      expect(configOf("anthropic", { ...keys, ANTHROPIC_BASE_URL })).toEqual({ apiKey: "sk-a", baseURL });
    }
    expect(configOf("openai", { ...keys, OPENAI_BASE_URL: "" })).toEqual({ apiKey: "sk-o" });
    expect(
      new AgentSet({ env: { OPENAI_API_KEY: "k", OPENAI_BASE_URL: "no address" } }).list()[0],
    ).toMatchObject({
      available: false,
      reason: expect.stringContaining("baseURL"),
    });
  });

  test("[AGT32] models of the environment", () => {
    const env = {
      ...keys,
      HEDDLE_OPENAI_MODEL: "o",
      HEDDLE_ANTHROPIC_MODEL: "a",
      HEDDLE_GOOGLE_MODEL: "g",
    };
    expect(new AgentSet({ env }).list().map(({ model }) => model)).toEqual(["o", "a", "g", "demo", "demo"]);
    expect(new AgentSet({ env: { ...keys, HEDDLE_OPENAI_MODEL: "" } }).list()[0]?.model).toBe("gpt-6.1-sol");
  });
});

describe("what the configuration names", () => {
  test("[AGT33] those are all there are", () => {
    const agents = agentsOf([{ agentId: "b" }, { agentId: "a", chat: { provider: "demo" } }], keys);
    expect(agents.list().map(({ agent_id }) => agent_id)).toEqual(["b", "a"]);
    expect(agents.get("demo")).toBeUndefined();
    expect(agents.get("openai")).toBeUndefined();
    expect(agents.require("a").chat.model).toBe("demo");
  });

  const access = (chat: object, env: Record<string, string>): unknown =>
    agentsOf([{ agentId: "a", chat }], env)
      .require("a")
      .chat.config.open();

  test("[AGT34] without key and address it uses the environment's", () => {
    const env = { ...keys, OPENAI_BASE_URL: "http://127.0.0.1:1/v1", HEDDLE_OPENAI_MODEL: "mine" };
    const found = { apiKey: "sk-o", baseURL: "http://127.0.0.1:1/v1" };
    expect(access({}, env)).toEqual(found);
    expect(access({ config: { retry: { retries: 0 } } }, env)).toEqual({ ...found, retry: { retries: 0 } });
    expect(access({ provider: "anthropic" }, env)).toEqual({ apiKey: "sk-a" });
    expect(agentsOf([{ agentId: "a" }], env).list()[0]).toMatchObject({ model: "mine", available: true });
    expect(agentsOf([{ agentId: "a", chat: { model: "own" } }], env).list()[0]?.model).toBe("own");
  });

  test("[AGT34] the environment's key goes to no address of the configuration, nor the other way round", () => {
    const env = { ...keys, OPENAI_BASE_URL: "http://127.0.0.1:1/v1" };
    expect(access({ config: { baseURL: "http://127.0.0.1:2" } }, env)).toEqual({
      baseURL: "http://127.0.0.1:2",
    });
    expect(access({ config: { apiKey: "own" } }, env)).toEqual({ apiKey: "own" });
    expect(access({ provider: "openai-compatible", config: {} }, env)).toEqual({});
    const [elsewhere] = agentsOf(
      [{ agentId: "a", chat: { config: { baseURL: "http://127.0.0.1:2" } } }],
      env,
    ).list();
    expect(elsewhere).toMatchObject({ available: false, reason: expect.stringContaining("chat.model") });
  });

  test.each<[chat: object, reason: string | RegExp | undefined]>([
    [{}, /^It needs an API key: set OPENAI_API_KEY .* `chat\.config\.apiKey`/],
    [{ provider: "anthropic" }, /ANTHROPIC_API_KEY/],
    [{ provider: "google" }, /GEMINI_API_KEY/],
    [{ provider: "openai-compatible", model: "m" }, /baseURL/],
    [{ provider: "openai-compatible", config: { baseURL: "http://127.0.0.1:1" } }, /No model is named/],
    [{ model: "m", config: { apiKey: "two words" } }, /apiKey/],
    [{ model: "m", config: { apiKey: "k", retry: { retries: -1 } } }, /retry\.retries/],
    [{ provider: "opnai" }, /There is no provider "opnai"/],
    [{ provider: "__proto__" }, /There is no provider/],
    [{ provider: "acp" }, /command: must name the program/],
    [{ provider: "codex-cli", config: { timeouts: { startMs: -1 } } }, /timeouts\.startMs/],
    [{ provider: "claude-cli" }, undefined],
    [{ provider: "acp", config: { command: "gemini", args: ["--acp"] } }, undefined],
    [{ provider: "scripted" }, /turns/],
    [{ provider: "scripted", config: { turns: [] } }, undefined],
    [{ provider: "demo" }, undefined],
    [{ provider: "openai-compatible", model: "m", config: { baseURL: "http://127.0.0.1:1" } }, undefined],
  ])("[AGT35] %j", (chat, reason) => {
    const [agent] = agentsOf([{ agentId: "a", chat }]).list();
    expect(agent?.available).toBe(reason === undefined);
    if (reason === undefined) expect(agent).not.toHaveProperty("reason");
    else expect(agent?.reason).toMatch(reason);
  });

  test("[EXT1] an external agent is available where it has an address, and has neither provider nor model", () => {
    const external = { inputUrl: "https://example.com/in" };
    const [agent] = agentsOf([{ agentId: "a", type: "external", external }]).list();
    expect(agent).toEqual({
      agent_id: "a",
      display_name: "a",
      description: "",
      type: "external",
      available: true,
      color: expect.any(String),
      origin: "config",
    });
  });

  test("[AGT36] hidden ones are listed only when asked for", () => {
    const agents = agentsOf([{ agentId: "seen" }, { agentId: "unseen", uiVisible: false, ownTools: true }]);
    expect(agents.list().map(({ agent_id }) => agent_id)).toEqual(["seen"]);
    expect(agents.list(true)).toMatchObject([
      { agent_id: "seen" },
      { agent_id: "unseen", hidden: true, own_tools: true },
    ]);
    expect(agents.list()[0]).not.toHaveProperty("hidden");
    const unseen = agents.require("unseen");
    expect(methods["agent/get"].result.parse({ agent: agents.toWire(unseen) })).toEqual({
      agent: agents.list(true)[1],
    });
    expect(agents.nameOf("unseen")).toBe("unseen");
  });

  test("[AGT37] an unknown id is refused with those that are known", () => {
    const agents = agentsOf([{ agentId: "a", displayName: "Ada" }, { agentId: "b" }]);
    for (const id of ["c", "__proto__", "toString", ""]) {
      expect(agents.get(id)).toBeUndefined();
      expect(agents.nameOf(id)).toBeUndefined();
      expect(refusal(() => agents.require(id))).toMatchObject({
        kind: "agent.not_found",
        data: { agent_id: id, known: ["a", "b"] },
        message: `There is no agent "${id}". Known are: a, b.`,
      });
    }
    expect(agents.nameOf("a")).toBe("Ada");
    expect(agents.get("a")).toBe(agents.require("a"));
  });

  test("[AGT38] a colour depends on the id only", () => {
    const ids = Array.from({ length: 40 }, (_, i) => `agent-${i}`);
    const colorOf = (agents: AgentSet, id: string) => agents.toWire(agents.require(id)).color;
    const all = agentsOf(ids.map((agentId) => ({ agentId })));
    for (const agentId of ids) {
      expect(colorOf(agentsOf([{ agentId, displayName: "Other" }]), agentId)).toBe(colorOf(all, agentId));
    }
    expect(new Set(ids.map((id) => colorOf(all, id))).size).toBeGreaterThan(5);
    expect(agentsOf([{ agentId: "a", color: "teal" }]).list()[0]?.color).toBe("teal");
  });

  test("[AGT39] the fallback is the first that can be seen and asked", () => {
    const [able, unable] = [{ chat: { provider: "demo" } }, { chat: { provider: "google" } }];
    const fallback = (...agents: object[]) =>
      agentsOf(agents.map((agent, i) => ({ agentId: `a${i}`, ...agent }))).fallback;
    expect(fallback(unable, { ...able, uiVisible: false }, able, able)).toBe("a2");
    expect(fallback({ uiVisible: false, ...unable }, unable, unable)).toBe("a1");
    expect(fallback({ uiVisible: false, ...able }, unable)).toBe("a1");
    expect(fallback({ uiVisible: false, ...unable }, { uiVisible: false, ...able })).toBe("a0");
    expect(new AgentSet({ env: { OPENAI_API_KEY: "not a key", GEMINI_API_KEY: "k" } }).fallback).toBe(
      "google",
    );
    expect(new AgentSet({ env: { OPENAI_API_KEY: "not a key" } }).fallback).toBe("demo");
  });

  test("[AGT36] a definition of another list can be shown too", () => {
    const [foreign] = load({ agents: [{ agentId: "x" }] }).config.agents as [AgentDefinition];
    expect(new AgentSet({ env: {} }).toWire(foreign)).toMatchObject({ agent_id: "x", available: false });
  });
});

test("[CFG30] a project lowers limits and never raises them; those it does not name stay the user's", () => {
  const limits = (user: object, project: object) =>
    new AgentSet({ env: {}, config: load(user).config, project: load(project).config }).limits;
  const user = { limits: { maxDelegationDepth: 3, maxDelegationHops: 20 } };
  expect(limits(user, {})).toEqual(user.limits);
  expect(limits(user, { limits: { maxDelegationDepth: 2, maxDelegationHops: 100 } })).toEqual({
    maxDelegationDepth: 2,
    maxDelegationHops: 20,
  });
  expect(limits({}, { limits: { maxDelegationDepth: 0 } })).toEqual({
    maxDelegationDepth: 0,
    maxDelegationHops: 8,
  });
});
