import { describe, expect, test } from "vitest";
import { modelFor, providerConfig } from "../../src/agents/index.js";
import { createProvider } from "../../src/providers/index.js";
import { agentsOf, refusal } from "./support.js";

const local = (port: number) => ({ baseURL: `http://127.0.0.1:${port}/v1` });
const demo = { agentId: "demo", chat: { provider: "demo" } };

describe("what a run asks", () => {
  test("[AGT40] the agent's own where nobody says otherwise", () => {
    const agents = agentsOf([
      demo,
      {
        agentId: "a",
        chat: {
          provider: "openai-compatible",
          model: "m",
          maxTokens: 9,
          reasoningEffort: "low",
          config: local(1),
        },
      },
    ]);
    expect(modelFor(agents.require("demo"), {})).toEqual({
      provider: "demo",
      model: "demo",
      options: {},
      params: {},
      window: 128_000,
    });
    expect(modelFor(agents.require("a"), {})).toEqual({
      provider: "openai-compatible",
      model: "m",
      options: local(1),
      params: { max_tokens: 9, reasoning_effort: "low" },
      window: 128_000,
    });
  });

  test("[AGT40] a thread's or run's values win", () => {
    const agent = agentsOf([
      { agentId: "a", chat: { provider: "demo", maxTokens: 9, reasoningEffort: "low" } },
    ]).require("a");
    expect(modelFor(agent, { model: "other", reasoning_effort: "max", max_tokens: 1 })).toMatchObject({
      model: "other",
      params: { max_tokens: 1, reasoning_effort: "max" },
    });
    const nothing = {
      provider: undefined,
      model: undefined,
      reasoning_effort: undefined,
      max_tokens: undefined,
    };
    expect(modelFor(agent, nothing)).toEqual(modelFor(agent, {}));
    expect(modelFor(agent, { provider: "demo" })).toEqual(modelFor(agent, {}));
  });

  const compatible = { provider: "openai-compatible" };
  const agents = agentsOf([
    {
      agentId: "a",
      chat: { ...compatible, model: "a", maxTokens: 5, config: { ...local(1), apiKey: "ka" } },
    },
    { agentId: "broken", chat: { provider: "anthropic", model: "b", config: { apiKey: "no key" } } },
    { agentId: "c", uiVisible: false, chat: { provider: "anthropic", model: "c", config: { apiKey: "kc" } } },
    { agentId: "d", chat: { provider: "anthropic", model: "d", config: { apiKey: "kd", ...local(4) } } },
    { agentId: "nameless", chat: { provider: "google", config: { ...local(5), apiKey: "kn" } } },
    { agentId: "x", type: "external", external: { inputUrl: "https://example.com" } },
  ]);

  test("[AGT41] another provider with what the first available agent that has it has", () => {
    const agent = agents.require("a");
    const choice = modelFor(agent, { provider: "anthropic" });
    expect(choice).toMatchObject({ provider: "anthropic", model: "c", options: {}, params: {} });
    expect(providerConfig(agent, choice)).toEqual({ apiKey: "kc" });
    const named = modelFor(agent, { provider: "anthropic", model: "claude-haiku-4-5" });
    expect(named).toMatchObject({ model: "claude-haiku-4-5", window: 200_000 });
    // One that lacks only a model lends when the run names one.
    const google = modelFor(agent, { provider: "google", model: "g" });
    expect(providerConfig(agent, google)).toEqual({ ...local(5), apiKey: "kn" });
  });

  test("[AGT41] the address of the choice finds its key again", () => {
    const choice = { ...modelFor(agents.require("d"), {}) };
    expect(providerConfig(agents.require("a"), choice)).toEqual({ ...local(4), apiKey: "kd" });
  });

  test("[AGT42] an own provider that can't be used borrows nothing", () => {
    const broken = agents.require("broken");
    expect(refusal(() => modelFor(broken, {})).data).toMatchObject({
      agent_id: "broken",
      reason: expect.stringContaining("apiKey"),
    });
    expect(refusal(() => modelFor(broken, { provider: "anthropic" })).kind).toBe("agent.unavailable");
    expect(modelFor(broken, { provider: "openai-compatible" }).model).toBe("a");
  });

  test("[AGT42] a provider that no available agent has", () => {
    const reasons = {
      openai: "No agent here can use the provider openai: configure one, or choose no other provider.",
      google: "No agent here can use the provider google: configure one, or choose no other provider.",
      demo: "No agent here can use the provider demo: configure one, or choose no other provider.",
      "claude-cli":
        "No agent here can use the provider claude-cli: configure one, or choose no other provider.",
      opnai: expect.stringMatching(/^There is no provider "opnai"\. Known are: openai, /),
      __proto__x: expect.stringMatching(/^There is no provider/),
      "": expect.stringMatching(/^There is no provider ""/),
    };
    for (const [provider, reason] of Object.entries(reasons)) {
      expect(refusal(() => modelFor(agents.require("a"), { provider }))).toMatchObject({
        kind: "agent.unavailable",
        data: { agent_id: "a", reason },
      });
    }
  });

  test("[AGT43] params that make no sense", () => {
    const agent = agents.require("a");
    for (const reasoning_effort of ["huge", "", "LOW", "__proto__"]) {
      expect(refusal(() => modelFor(agent, { reasoning_effort }))).toMatchObject({
        kind: "agent.invalid_param",
        data: {
          agent_id: "a",
          param: "reasoning_effort",
          problem: "must be one of none, minimal, low, medium, high, xhigh, max",
        },
      });
    }
    for (const max_tokens of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(refusal(() => modelFor(agent, { max_tokens })).data).toMatchObject({ param: "max_tokens" });
    }
    for (const effort of ["none", "minimal", "low", "medium", "high", "xhigh", "max"]) {
      expect(modelFor(agent, { reasoning_effort: effort }).params.reasoning_effort).toBe(effort);
    }
  });

  test("[AGT44] an agent that can't be asked gives no choice", () => {
    expect(refusal(() => modelFor(agents.require("nameless"), {})).message).toBe(
      "The agent nameless can't be used: No model is named: set `chat.model` in the configuration.",
    );
    expect(modelFor(agents.require("nameless"), { model: "gemini-2.5-pro" })).toMatchObject({
      provider: "google",
      model: "gemini-2.5-pro",
      window: 1_048_576,
    });
  });

  test("[EXT37] an external agent has no model of ours: none can be chosen, and it lends nobody its provider", () => {
    const external = agents.require("x");
    expect(modelFor(external, { max_tokens: 5, reasoning_effort: "low" })).toMatchObject({
      provider: "external",
      model: "external",
      options: {},
      params: {},
    });
    for (const overrides of [{ model: "m" }, { provider: "anthropic" }]) {
      const [param] = Object.keys(overrides);
      expect(refusal(() => modelFor(external, overrides)).data).toMatchObject({ param });
    }
    // Its `chat.provider` is the default one, which it can't use.
    const reason = refusal(() => modelFor(agents.require("a"), { provider: "openai", model: "m" })).data
      .reason;
    expect(reason).toMatch(/^No agent here can use the provider openai/);
  });

  test("[AGT45] windows by name", () => {
    const window = (model: string, contextWindow?: number) => {
      const chat = { provider: "demo", model: "own", ...(contextWindow && { contextWindow }) };
      return modelFor(agentsOf([{ agentId: "a", chat }]).require("a"), { model }).window;
    };
    const windows = {
      "gpt-6.1-sol": 1_050_000,
      "gpt-5.4-mini": 400_000,
      "gpt-5": 400_000,
      "gpt-5-chat-latest": 128_000,
      "gpt-4.1-nano": 1_047_576,
      "gpt-4o-2024-11-20": 128_000,
      "gpt-4-0613": 8_192,
      "o4-mini": 200_000,
      "claude-sonnet-5-5": 1_000_000,
      "claude-sonnet-4-5": 200_000,
      "anthropic/claude-opus-5.5": 1_000_000,
      "openai/GPT-4o": 128_000,
      "models/gemini-3.8-flash": 1_048_576,
      "gpt-5000": 128_000,
      o365: 128_000,
      qwen3: 128_000,
      "": 128_000,
      own: 128_000,
    };
    for (const [model, tokens] of Object.entries(windows)) expect(window(model), model).toBe(tokens);
    expect(window("own", 8_000)).toBe(8_000);
    expect(window("qwen3", 8_000)).toBe(8_000);
    expect(window("gpt-4o", 8_000)).toBe(128_000);
    const known = { provider: "demo", model: "gpt-4o", contextWindow: 8_000 };
    expect(modelFor(agentsOf([{ agentId: "a", chat: known }]).require("a"), {}).window).toBe(8_000);
  });

  test("[AGT46] what is chosen can be asked", async () => {
    const turns = [{ steps: [{ text: "Scripted." }] }];
    const scripted = agentsOf([{ agentId: "a", chat: { provider: "scripted", config: { turns } } }]).require(
      "a",
    );
    const choice = modelFor(scripted, {});
    expect(choice).toMatchObject({ provider: "scripted", model: "scripted", options: { turns } });
    const provider = createProvider({ provider: choice.provider, config: providerConfig(scripted, choice) });
    let answer = "";
    for await (const event of provider.generate({
      model: choice.model,
      messages: [{ role: "user", content: "?" }],
    }))
      if (event.type === "text") answer += event.text;
    expect(answer).toBe("Scripted.");
  });
});
