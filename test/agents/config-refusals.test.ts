import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { HeddleError } from "../../src/base/index.js";
import { define, load, refusal } from "./support.js";

const sample = readFileSync("test/agents/sample.config.json", "utf8");

describe("what is refused", () => {
  test("[AGT3] what is not JSON, with its line", () => {
    const wrong = [
      ["", 1],
      ["// nothing", 1],
      ["[]", 1],
      ["7", 1],
      ["null", 1],
      ['{\n"agents": []', 2],
      ['{\n"agents": [\n]\n]', 4],
      ["{}\n{}", 2],
      ['{\n"a": 1\n"b": 2}', 3],
      ["{\na: 1}", 2],
      ["{\r\n\r\n'a': 1}", 3],
      ['{"a":\r\r"b\n"}', 3],
      ['{"a": "\\x"}', 1],
      ["{} /*", 1],
    ] as const;
    for (const [text, line] of wrong) {
      const error = refusal(() => load(text));
      expect([error.kind, error.data.line], text).toEqual(["config.invalid", line]);
      expect(error.message).toContain(`heddle.config.json:${line}: The configuration `);
    }
  });

  const entry = (fields: object) => ({ agents: [{ agentId: "a", ...fields }] });
  const options = (config: object) => entry({ chat: { config } });

  test.each<[given: object, key: string, problem: string | RegExp]>([
    [{ agents: {} }, "agents", "must be a list, not an object"],
    [{ agents: null }, "agents", "must be a list, not null"],
    [{ agents: [null] }, "agents[0]", "must be an object, not null"],
    [{ agents: [{}] }, "agents[0].agentId", "is missing"],
    [{ agents: [{ agent_ID: "a" }] }, "agents[0].agentId", 'is missing; "agent_ID" looks like it'],
    [{ agents: [{ agentId: 7 }] }, "agents[0].agentId", "must be a string, not a number"],
    [{ agents: [{ agentId: "a b" }] }, "agents[0].agentId", /letters, digits/],
    [{ agents: [{ agentId: "" }] }, "agents[0].agentId", /letters, digits/],
    [{ agents: [{ agentId: "ä" }] }, "agents[0].agentId", /letters, digits/],
    [entry({ displayName: "" }), "agents[0].displayName", /characters on one line/],
    [entry({ displayName: "a\nb" }), "agents[0].displayName", /characters on one line/],
    [entry({ displayName: "x".repeat(256) }), "agents[0].displayName", /characters on one line/],
    [entry({ description: "\0" }), "agents[0].description", /NUL/],
    [entry({ systemPrompt: "\ud800" }), "agents[0].systemPrompt", /half a character/],
    [entry({ systemPrompt: ["x"] }), "agents[0].systemPrompt", "must be a string, not a list"],
    [entry({ type: "robot" }), "agents[0].type", "must be one of chat, external"],
    [entry({ toolExposure: 1 }), "agents[0].toolExposure", "must be one of tools, skills, mixed"],
    [entry({ uiVisible: "yes" }), "agents[0].uiVisible", "must be true or false, not a string"],
    [entry({ ownTools: 1 }), "agents[0].ownTools", "must be true or false, not a number"],
    [entry({ color: "url(x)" }), "agents[0].color", /colour/],
    [entry({ toolAllowlist: "files_*" }), "agents[0].toolAllowlist", "must be a list, not a string"],
    [entry({ toolDenylist: ["a", 7] }), "agents[0].toolDenylist[1]", "must be a string, not a number"],
    [entry({ toolDenylist: [""] }), "agents[0].toolDenylist[0]", "must not be empty"],
    [entry({ toolApprovals: { ask: null } }), "agents[0].toolApprovals.ask", "must be a list, not null"],
    [entry({ chat: "gpt" }), "agents[0].chat", "must be an object, not a string"],
    [entry({ chat: { provider: "" } }), "agents[0].chat.provider", "must not be empty"],
    [entry({ chat: { model: 4 } }), "agents[0].chat.model", "must be a string, not a number"],
    [entry({ chat: { maxTokens: 0 } }), "agents[0].chat.maxTokens", "must be at least 1"],
    [entry({ chat: { maxTokens: 1.5 } }), "agents[0].chat.maxTokens", "must be a whole number"],
    [entry({ chat: { contextWindow: "8k" } }), "agents[0].chat.contextWindow", "must be a whole number"],
    [
      entry({ chat: { reasoningEffort: "huge" } }),
      "agents[0].chat.reasoningEffort",
      /^must be one of none, /,
    ],
    [options({ apiKey: 7 }), "agents[0].chat.config.apiKey", "must be a string, not a number"],
    [
      options({ headers: { "a b": "c" } }),
      'agents[0].chat.config.headers["a b"]',
      "must be the name of a header",
    ],
    [options({ headers: { a: "b\r\n" } }), "agents[0].chat.config.headers.a", /no header/],
    [options({ env: { "A=B": "c" } }), 'agents[0].chat.config.env["A=B"]', /environment variable/],
    [options({ args: "x" }), "agents[0].chat.config.args", "must be a list, not a string"],
    [entry({ external: {} }), "agents[0].external.inputUrl", "is missing"],
    [entry({ external: { inputUrl: "http://example.com" } }), "agents[0].external.inputUrl", /https address/],
    [entry({ external: { inputUrl: "file:///etc" } }), "agents[0].external.inputUrl", /https address/],
    [{ plugins: [] }, "plugins", "must be an object, not a list"],
    [{ plugins: { lists: { enabled: 0 } } }, "plugins.lists.enabled", "must be true or false, not a number"],
    [{ mcpServers: { "a.b": { command: "x" } } }, 'mcpServers["a.b"]', /letters, digits/],
    [{ mcpServers: { a: {} } }, "mcpServers.a", "needs either command or url"],
    [
      { mcpServers: { a: { command: "x", url: "https://y" } } },
      "mcpServers.a",
      "needs either command or url",
    ],
    [{ mcpServers: { a: { url: "file:///etc" } } }, "mcpServers.a.url", "must be an http or https address"],
    [{ plugins: { "a b": {} } }, 'plugins["a b"]', /letters, digits/],
    [{ limits: { maxDelegationDepth: -1 } }, "limits.maxDelegationDepth", "must not be negative"],
    [{ limits: { maxDelegationHops: "8" } }, "limits.maxDelegationHops", "must be a whole number"],
    [{ hooks: {} }, "hooks", "must be a list, not an object"],
  ])("[AGT5] %j", (given, key, problem) => {
    const { kind, data, message } = refusal(() => load(given));
    expect({ kind, ...data }).toEqual({
      kind: "config.invalid",
      file: "heddle.config.json",
      line: expect.any(Number),
      key,
      problem: typeof problem === "string" ? problem : expect.stringMatching(problem),
    });
    expect(message).toBe(
      `heddle.config.json:${data.line}: ${key} ${data.problem}. Correct it, then try again.`,
    );
  });

  test("[AGT5] the line is that of the key, or of what should hold it", () => {
    const text =
      '{\n  "agents": [\n    { "agentId": "a" },\n    {\n      "agentId": "b",\n      "toolDenylist": [\n        "x",\n        7\n';
    const wrong = [
      [`${text}      ]}]}`, 8],
      ['{\n"agents":\n[\n\n{}]}', 5],
      ['{"limits":\n{\n"maxDelegationDepth":\n\n-1}}', 3],
    ] as const;
    for (const [given, line] of wrong) expect(refusal(() => load(given)).data.line, given).toBe(line);
  });

  test("[AGT6] an id that two agents have", () => {
    const text = '{"agents": [\n{"agentId": "a"},\n{"agentId": "b"},\n{"agentId": "a"}]}';
    expect(refusal(() => load(text))).toMatchObject({
      kind: "config.invalid",
      data: { line: 4, key: "agents[2].agentId", problem: "is that of the agent in line 2, too" },
    });
  });

  test("[AGT7] a key that stands twice, and __proto__", () => {
    const twice = '{"agents": [{"agentId": "a",\n"toolDenylist": ["*"],\n"toolDenylist": []}]}';
    expect(refusal(() => load(twice)).data).toMatchObject({ line: 3, key: "agents[0].toolDenylist" });
    expect(refusal(() => load('{"x": {"__proto__": {"agents": []}}}')).data.key).toBe("x.__proto__");
    expect(load('{"constructor": 1, "toString": 2}').warnings.map(({ key }) => key)).toEqual([
      "constructor",
      "toString",
    ]);
  });

  test("[AGT9] a glob that begins with !", () => {
    const places = [
      "toolAllowlist",
      "toolDenylist",
      "skillAllowlist",
      "skillDenylist",
      "capabilityAllowlist",
      "capabilityDenylist",
      "agentAllowlist",
      "agentDenylist",
    ];
    for (const list of places) {
      expect(refusal(() => define({ [list]: ["a", "!b"] })).data).toMatchObject({
        key: `agents[0].${list}[1]`,
      });
    }
    for (const list of ["allow", "ask", "deny"]) {
      const { data } = refusal(() => define({ toolApprovals: { [list]: ["!b"] } }));
      expect(data).toMatchObject({
        key: `agents[0].toolApprovals.${list}[0]`,
        problem: expect.stringContaining("!"),
      });
    }
    expect(define({ toolAllowlist: ["a!b"] }).toolAllowlist).toEqual(["a!b"]);
  });

  test("[AGT8] depth and length are bounded", () => {
    const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    for (const text of [deep(100), deep(200_000), `{"a":${"[".repeat(500_000)}`]) {
      expect(refusal(() => load(text)).message).toMatch(/nested|not JSON/);
    }
    expect(load(deep(60)).warnings).toHaveLength(1);
    const long = load({ [`\u001b[2J\u009b\u202e${"x".repeat(100_000)}`]: 1 }).warnings[0]?.message as string;
    expect(long.length).toBeLessThan(300);
    expect(long).not.toMatch(/\p{C}/u);
  });

  test("[AGT8] whatever a text is, it loads or is refused with words", () => {
    const keys = fc.constantFrom(
      ...[
        "agents",
        "agentId",
        "chat",
        "config",
        "hooks",
        "module",
        "limits",
        "extends",
        "mcpServers",
        "plugins",
      ],
      ...[
        "toolAllowlist",
        "type",
        "external",
        "command",
        "headers",
        "__proto__",
        "\u001b",
        "\u009b2J\u202e",
        "\ud800",
        "",
      ],
    );
    const leaf = fc.oneof(
      fc.constantFrom<unknown>(null, true, 0, -1, "a", "external", `\${X}`, `\${`, "!", "https://x"),
      fc.string(),
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ depthSize: "small" }, leaf, fc.array(tie("tree")), fc.dictionary(keys, tie("tree"))),
    }));
    const check = (text: string) => {
      try {
        load(text, { X: "x" });
      } catch (error) {
        if (!(error instanceof HeddleError)) throw error;
        expect(error.kind).toMatch(/^config\./);
        expect(error.message).not.toMatch(/\p{C}|undefined|\[object/u);
      }
    };
    const rows = fc
      .dictionary(keys, tree)
      .map((value) => JSON.stringify({ agents: [{ agentId: "a", ...value }], ...value }));
    fc.assert(fc.property(rows, check), { numRuns: 2_000 });
    fc.assert(fc.property(fc.string(), check), { numRuns: 500 });
    const cut = fc.tuple(fc.nat(sample.length), fc.nat(sample.length));
    fc.assert(
      fc.property(cut, ([from, to]) => check(sample.slice(0, from) + sample.slice(to))),
      { numRuns: 300 },
    );
  });
});
