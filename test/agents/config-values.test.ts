// biome-ignore-all lint/suspicious/noTemplateCurlyInString: that is how a configuration names a variable
import { resolve } from "node:path";
import { describe, expect, test } from "vitest";
import type { AgentDefinition } from "../../src/agents/index.js";
import { parseConfig } from "../../src/agents/index.js";
import { define, load, refusal } from "./support.js";

describe("variables", () => {
  const prompt = (systemPrompt: string, env = {}) => define({ systemPrompt }, env).systemPrompt;

  test("[AGT10] they are replaced in texts, once", () => {
    const env = { A: "one", B_2: "${A}", EMPTY: "", _: "under" };
    const texts = {
      "${A}": "one",
      "<${A}${B_2}${EMPTY}>": "<one${A}>",
      "$A ${_} $ {A} }{": "$A under $ {A} }{",
      "$${A} $$${A} $$": "${A} $${A} $$",
      "$&$1": "$&$1",
    };
    for (const [text, expected] of Object.entries(texts)) expect(prompt(text, env), text).toBe(expected);
    expect(prompt("${A}", { A: "$& $1 $$" })).toBe("$& $1 $$");
  });

  test("[AGT10] also deep inside, but not in keys, comments and shell lines", () => {
    const text = `{ // \${NOT_SET}
      "agents": [{ "agentId": "\${ID}", "toolAllowlist": ["\${ID}_*"], "chat": { "config": { "headers": { "x": "v\${ID}" } } } }],
      "plugins": { "lists": { "\${ID}": { "deep": ["\${ID}"] } } },
      "hooks": [
        { "id": "h", "contributes": [], "shell": "echo \${HOME}", "cwd": "/\${ID}", "subscriptions": [] }
      ]
    }`;
    const { config } = load(text, { ID: "a" });
    expect(config.agents[0]).toMatchObject({ agentId: "a", toolAllowlist: ["a_*"] });
    expect(config.agents[0]?.chat.config.open()).toEqual({ headers: { x: "va" } });
    expect(config.plugins.open()).toEqual({ lists: { "${ID}": { deep: ["a"] } } });
    expect(config.hooks[0]).toMatchObject({ shell: "echo ${HOME}", cwd: "/a" });
  });

  test("[AGT10] a value is checked after it was put in", () => {
    const wrong = () => load('{"agents": [{"agentId": "${ID}"}]}', { ID: "a secret thing" });
    expect(refusal(wrong)).toMatchObject({ kind: "config.invalid", data: { key: "agents[0].agentId" } });
    expect(refusal(wrong).message).not.toContain("secret");
  });

  test("[AGT11] one that is not set is refused by name", () => {
    const text = '{\n"agents": [{\n"agentId": "a",\n"chat": {"config": {"apiKey":\n"${KEY}"}}}]}';
    const { kind, data, message } = refusal(() => load(text, { KEY: undefined }));
    expect({ kind, ...data }).toEqual({
      kind: "config.missing_variable",
      file: "heddle.config.json",
      line: 4,
      key: "agents[0].chat.config.apiKey",
      variable: "KEY",
    });
    expect(message).toBe(
      'heddle.config.json:4: agents[0].chat.config.apiKey needs the environment variable KEY, which is not set. Set it; or, if none is meant, write "$${" for the characters "${" themselves.',
    );
    for (const name of ["toString", "__proto__", "constructor"]) {
      expect(refusal(() => prompt(`\${${name}}`)).kind, name).toBe("config.missing_variable");
    }
  });

  test("[AGT11] what is no name is refused, and not repeated", () => {
    for (const text of [
      "${",
      "${}",
      "${A",
      "${A:-x}",
      "${a-b}",
      "${1}",
      "${ A }",
      "${A.b}",
      "x${sk-secret}",
    ]) {
      const { kind, message } = refusal(() => prompt(text, { A: "x" }));
      expect(kind, text).toBe("config.invalid");
      expect(message).toContain('write "$${"');
      expect(message).not.toContain("secret");
    }
  });
});

describe("extends", () => {
  const extended = (...agents: object[]): AgentDefinition =>
    load({ agents }).config.agents.at(-1) as AgentDefinition;
  const base = {
    agentId: "base",
    displayName: "Base",
    description: "Described.",
    systemPrompt: "Told.",
    toolAllowlist: ["a"],
    toolDenylist: ["b"],
    toolApprovals: { ask: ["c"] },
    color: "#123456",
    chat: {
      provider: "anthropic",
      model: "big",
      maxTokens: 7,
      config: { apiKey: "k", baseURL: "https://one" },
    },
  };

  test("[AGT12] the other's fields are the defaults", () => {
    const own = { agentId: "own", extends: "base" };
    const { agentId: _, ...inherited } = load({ agents: [base] }).config.agents[0] as AgentDefinition;
    expect(extended(base, own)).toEqual({ ...inherited, ...own });
    expect(
      extended(base, { ...own, displayName: "Own", toolAllowlist: [], toolDenylist: null }),
    ).toMatchObject({
      displayName: "Own",
      description: "Described.",
      systemPrompt: "Told.",
      toolAllowlist: [],
      toolDenylist: null,
      toolApprovals: { allow: [], ask: ["c"], deny: [] },
    });
  });

  test("[AGT12] over several steps, in any order", () => {
    const agents = [
      { agentId: "three", extends: "two", description: "3" },
      { agentId: "two", extends: "one", toolAllowlist: ["2"] },
      { agentId: "one", toolAllowlist: ["1"], toolDenylist: ["1"] },
    ];
    const [three, two] = load({ agents }).config.agents;
    expect(three).toMatchObject({
      description: "3",
      toolAllowlist: ["2"],
      toolDenylist: ["1"],
      extends: "two",
    });
    expect(two).toMatchObject({ description: "", toolAllowlist: ["2"], toolDenylist: ["1"] });
  });

  test("[AGT12] chat is filled in by field, its config whole", () => {
    const small = extended(base, { agentId: "own", extends: "base", chat: { model: "small" } });
    expect(small.chat).toMatchObject({ provider: "anthropic", model: "small", maxTokens: 7 });
    expect(small.chat.config.open()).toEqual({ apiKey: "k", baseURL: "https://one" });
    const elsewhere = extended(base, {
      agentId: "own",
      extends: "base",
      chat: { provider: "anthropic", config: { baseURL: "https://two" } },
    });
    expect(elsewhere.chat).toMatchObject({ provider: "anthropic", model: "big" });
    expect(elsewhere.chat.config.open()).toEqual({ baseURL: "https://two" });
  });

  test("[AGT12] with another provider nothing of chat is taken", () => {
    const other = extended(base, { agentId: "own", extends: "base", chat: { provider: "openai" } });
    expect(other.chat).toMatchObject({ provider: "openai" });
    expect(other.chat.model).toBeUndefined();
    expect(other.chat.config.open()).toEqual({});
    // `openai` is what a base without a provider has.
    const plain = { agentId: "base", chat: { model: "m", config: { apiKey: "k" } } };
    const same = extended(plain, { agentId: "own", extends: "base", chat: { provider: "openai" } });
    expect(same.chat.config.open()).toEqual({ apiKey: "k" });
  });

  test("[AGT13] a name that is not there", () => {
    for (const name of ["nobody", "demo", "__proto__"]) {
      const text = `{"agents": [\n{"agentId": "a",\n"extends": "${name}"}]}`;
      expect(refusal(() => load(text)).data, name).toMatchObject({
        line: 3,
        key: "agents[0].extends",
        problem: "names an agent that is not in this file",
      });
    }
  });

  test("[AGT13] circles, short and long", () => {
    const circle = (...ids: string[]) =>
      refusal(() =>
        load({ agents: ids.map((agentId, i) => ({ agentId, extends: ids[(i + 1) % ids.length] })) }),
      );
    expect(circle("a").data.problem).toBe("leads in a circle: a → a");
    expect(circle("a", "b", "c").data).toMatchObject({
      key: "agents[2].extends",
      problem: "leads in a circle: a → b → c → a",
    });
    const long = Array.from({ length: 500 }, (_, i) => ({ agentId: `a${i}`, extends: `a${i + 1}` }));
    expect(refusal(() => load({ agents: [...long, { agentId: "a500" }] })).data.problem).toMatch(
      /more than 32/,
    );
  });

  test("[AGT13] an external agent needs an address, its own or the other's", () => {
    expect(refusal(() => define({ type: "external" })).data).toMatchObject({ key: "agents[0]" });
    const shared = { agentId: "base", external: { inputUrl: "http://localhost:1/in" } };
    const made = extended(shared, { agentId: "own", extends: "base", type: "external" });
    expect(made.external?.open()).toEqual({ inputUrl: "http://localhost:1/in" });
  });
});

describe("hooks", () => {
  const subscriptions = [{ hook_id: "h.now", phase: "turn.pre_prompt_compile" }];
  const command = { id: "h", contributes: ["prompt_section"], subscriptions };

  test("[AGT14] paths are relative to the file's directory", () => {
    const { config } = load({
      hooks: [
        { module: "hooks/a.mjs" },
        { module: "/abs/b.mjs" },
        { ...command, command: ["./run.sh", "./arg"], cwd: "work" },
        { ...command, command: ["../run.sh"] },
        { ...command, command: ["node", "x.js"] },
        { ...command, shell: "./run.sh" },
      ],
    });
    expect(config.hooks).toMatchObject([
      { module: "/etc/heddle/hooks/a.mjs" },
      { module: "/abs/b.mjs" },
      { command: ["/etc/heddle/run.sh", "./arg"], cwd: "/etc/heddle/work" },
      { command: ["/etc/run.sh"] },
      { command: ["node", "x.js"] },
      { shell: "./run.sh" },
    ]);
    expect(config.hooks.map((hook) => "cwd" in hook)).toEqual([false, false, true, false, false, false]);
    const beside = parseConfig('{"hooks": [{"module": "a.mjs"}]}', {
      file: "conf/heddle.config.json",
      env: {},
    });
    expect(beside.config.hooks).toEqual([{ module: resolve("conf/a.mjs") }]);
  });

  test.each<[hook: unknown, key: string, problem: string | RegExp]>([
    [7, "hooks[0]", "must be an object, not a number"],
    [{}, "hooks[0].id", "is missing"],
    [{ module: 7 }, "hooks[0].module", "must be a string, not a number"],
    [{ module: "a", command: ["x"] }, "hooks[0].command", "is not a key that is known here"],
    [{ ...command }, "hooks[0]", "needs either command or shell"],
    [{ ...command, command: ["x"], shell: "y" }, "hooks[0]", "needs either command or shell"],
    [{ ...command, command: "x" }, "hooks[0].command", "must be a list, not a string"],
    [{ ...command, command: [] }, "hooks[0].command[0]", "is missing"],
    [{ ...command, shell: "x", subscriptions: [{}] }, "hooks[0].subscriptions[0].hook_id", "is missing"],
    [{ ...command, shell: "x", contributes: ["spam"] }, "hooks[0].contributes[0]", /^must be one of /],
  ])("[AGT14] %j is refused", (hook, key, problem) => {
    expect(refusal(() => load({ hooks: [hook] }))).toMatchObject({
      kind: "config.invalid",
      data: { key, problem: typeof problem === "string" ? problem : expect.stringMatching(problem) },
    });
  });
});
