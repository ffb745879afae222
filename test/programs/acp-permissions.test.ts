import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { acpStage, ofType, says, textIn, user } from "../support/programs/fake-acp-stage.js";

const options = [
  { optionId: "a1", name: "Always", kind: "allow_always" },
  { optionId: "o1", name: "Once", kind: "allow_once" },
  { optionId: "r1", name: "No", kind: "reject_once" },
];
const toolCall = {
  toolCallId: "c1",
  title: "heddle_notes_add",
  kind: "execute",
  status: "pending",
  rawInput: { command: "heddle_notes_add" },
};
const asks = (more: object = {}, given: object[] = options) => ({
  ask: { params: { toolCall: { ...toolCall, ...more }, options: given } },
});
const done = (toolCallId: string) => ({
  update: { sessionUpdate: "tool_call_update", toolCallId, status: "completed" },
});
const tools = [{ name: "notes_add", description: "", parameters: {} }];
const bridge = {
  url: "http://127.0.0.1:9/mcp",
  token: "secret",
  command: "cmd",
  args: ["x"],
  env: { A: "b" },
};
const selected = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });
const answersOf = async (at: Awaited<ReturnType<typeof acpStage>>) =>
  (await at.heard()).flatMap(({ answer }) => (answer === undefined ? [] : [answer]));

test("[ACPA22] [ACPA23] an answer is the option that says the same; a title of a command is no name", async () => {
  for (const [answer, optionId, failed] of [
    ["allow", "o1", false],
    ["always", "a1", false],
    ["deny", "r1", true],
  ] as const) {
    const at = await acpStage({ turns: [{ steps: [asks(), done("c1")] }] });
    const events = await at.turn([user("Go")], { answer, tools, work: { bridge } });
    expect(at.asked).toEqual([{ id: "c1", name: "execute", arguments: '{"command":"heddle_notes_add"}' }]);
    expect(await answersOf(at)).toEqual([selected(optionId)]);
    expect(ofType(events, "tool_call")).toHaveLength(1);
    expect(ofType(events, "tool_result").map((result) => result.failed)).toEqual([failed]);
    expect(events.at(-1)).toEqual({ type: "finish", reason: "stop" });
  }
});

test("[ACPA22] where no option says it, nothing is allowed", async () => {
  const always = [{ optionId: "a1", name: "Always", kind: "allow_always" }];
  const at = await acpStage({
    turns: [
      {
        steps: [
          asks({}, always),
          asks({ toolCallId: "c2" }, []),
          asks({ toolCallId: "c3" }, [...always, { optionId: "n", name: "Never", kind: "reject_always" }]),
        ],
      },
    ],
  });
  await at.turn([user("Go")], { answer: "allow" });
  expect(await answersOf(at)).toEqual([
    { outcome: { outcome: "cancelled" } },
    { outcome: { outcome: "cancelled" } },
    selected("n"),
  ]);
});

test("[ACPA22] [ACPA35] a question for another session, or without sense, is answered with no", async () => {
  const at = await acpStage({
    turns: [
      {
        steps: [
          { ask: { params: { sessionId: "another", toolCall, options } } },
          { ask: { params: { options } } },
          says("Yes."),
        ],
      },
    ],
  });
  const events = await at.turn([user("Go")]);
  expect(at.asked).toEqual([]);
  expect(await answersOf(at)).toEqual([
    { outcome: { outcome: "cancelled" } },
    { outcome: { outcome: "cancelled" } },
  ]);
  expect(textIn(events)).toBe("Yes.");
});

test("[ACPA23] [ACPA24] a tool of Heddle is allowed at once under its own name", async () => {
  const named = { toolCallId: "c9", kind: "other", rawInput: { text: "hi" } };
  const at = await acpStage({
    initialized: { agentCapabilities: { mcpCapabilities: { http: true } } },
    turns: [
      {
        steps: [
          asks({ ...named, _meta: { claudeCode: { toolName: "mcp__heddle__notes_add" } } }),
          done("c9"),
        ],
      },
    ],
  });
  const events = await at.turn([user("Go")], { answer: "deny", tools, work: { bridge } });
  expect(at.asked).toEqual([]);
  expect(ofType(events, "tool_call")).toEqual([
    { type: "tool_call", id: "c9", name: "notes_add", arguments: '{"text":"hi"}' },
  ]);
  expect(await answersOf(at)).toEqual([selected("o1")]);
  const [{ mcpServers }] = await at.sent("session/new");
  expect(mcpServers).toEqual([
    {
      type: "http",
      name: "heddle",
      url: bridge.url,
      headers: [{ name: "Authorization", value: "Bearer secret" }],
    },
  ]);
  expect(JSON.stringify(ofType(events, "request"))).not.toContain("secret");
});

test("[ACPA24] an agent without HTTP gets the bridge as a command", async () => {
  const at = await acpStage({});
  await at.turn([user("Go")], { tools, work: { bridge } });
  const [{ mcpServers }] = await at.sent("session/new");
  expect(mcpServers).toEqual([
    { name: "heddle", command: "cmd", args: ["x"], env: [{ name: "A", value: "b" }] },
  ]);
});

test("[ACPA20] a model is chosen by either way, once, and left again", async () => {
  const models = { currentModelId: "m1", availableModels: [{ modelId: "m1" }, { modelId: "m2" }] };
  const older = await acpStage({ session: { models } });
  await older.turn([user("Go")], { model: "m2" });
  expect(await older.sent("session/set_model")).toEqual([{ sessionId: "s-1", modelId: "m2" }]);
  const session = { id: "s-1", told: 1, instructions: "" };
  await older.turn([user("Go"), user("More")], { model: "m2", work: { session } });
  await older.turn([user("Go"), user("More")], { work: { session } });
  expect((await older.sent("session/set_model")).map(({ modelId }) => modelId)).toEqual(["m2", "m1"]);
  const groups = [{ group: "g", name: "G", options: [{ value: "x/1", name: "1" }] }];
  const model = { id: "which", category: "model", type: "select", currentValue: "x/0", options: groups };
  const newer = await acpStage({ session: { configOptions: [{ id: "odd" }, model] } });
  await newer.turn([user("Go")], { model: "x/1" });
  expect(await newer.sent("session/set_config_option")).toEqual([
    { sessionId: "s-1", configId: "which", value: "x/1" },
  ]);
  await newer.turn([user("Go"), user("More")], { model: "x/0", work: { session } });
  expect((await newer.sent("session/set_config_option")).at(-1).value).toBe("x/0");
});

test("[ACPA20] an unknown model fails with those that are known", async () => {
  const models = { currentModelId: "m1", availableModels: [{ modelId: "m1" }, { modelId: "m2" }] };
  const at = await acpStage({ session: { models } });
  const events = await at.turn([user("Go")], { model: "m3" });
  expect(events).toEqual([
    expect.objectContaining({
      type: "failed",
      code: "program.failed",
      message: expect.stringContaining('does not know the model "m3". It offers: m1, m2.'),
    }),
  ]);
  const none = await acpStage({});
  const [failed] = await none.turn([user("Go")], { model: "m3" });
  expect(failed).toMatchObject({ message: expect.stringContaining("can't be told which model") });
  expect(await none.sent("session/prompt")).toEqual([]);
});

test("[ACPA21] a mode that asks for nothing is left", async () => {
  const availableModes = [{ id: "yolo" }, { id: "default" }];
  const at = await acpStage({ session: { modes: { currentModeId: "yolo", availableModes } } });
  await at.turn([user("Go")]);
  expect(await at.sent("session/set_mode")).toEqual([{ sessionId: "s-1", modeId: "default" }]);
  const only = await acpStage({
    session: { modes: { currentModeId: "bypassPermissions", availableModes: [] } },
  });
  const [failed] = await only.turn([user("Go")]);
  expect(failed).toMatchObject({ type: "failed", code: "program.failed" });
});

test("[ACPA25] an agent that can't be limited is not started", async () => {
  const at = await acpStage({});
  const events = await at.turn([user("Go")], { work: { ownTools: false } });
  expect(events).toEqual([expect.objectContaining({ type: "failed", code: "program.unlimited" })]);
  expect(await at.heard()).toEqual([]);
});

const opencodeInitialized = { agentInfo: { name: "OpenCode", version: "1" } };
const modeOption = (currentValue: string) => ({
  configOptions: [
    { id: "mode", category: "mode", type: "select", currentValue, options: [{ value: currentValue }] },
  ],
});

test("[ACPA14] [ACPA25] opencode is limited by its configuration, and says that it took it", async () => {
  const given = { model: "m", agent: { build: { prompt: "p" } }, permission: { bash: "allow" } };
  const env = { OPENCODE_CONFIG_CONTENT: JSON.stringify(given), OPENCODE_PERMISSION: "{}" };
  const script = { initialized: opencodeInitialized, session: modeOption("heddle-limited") };
  const at = await acpStage({ ...script, turns: [{ steps: [asks()] }] }, { named: "opencode", env });
  const events = await at.turn([user("Go")], { tools, work: { ownTools: false, bridge } });
  expect(events.at(-1)).toEqual({ type: "finish", reason: "stop" });
  expect(at.asked).toEqual([]);
  expect(await answersOf(at)).toEqual([selected("r1")]);
  const [{ env: seen = {} } = {}] = await at.heard();
  expect(seen).not.toHaveProperty("OPENCODE_PERMISSION");
  expect(seen).toMatchObject({ OPENCODE_DISABLE_PROJECT_CONFIG: "1", OPENCODE_DISABLE_CLAUDE_CODE: "1" });
  const permission = { "*": "deny", "heddle_*": "allow" };
  expect(JSON.parse(seen.OPENCODE_CONFIG_CONTENT ?? "")).toMatchObject({
    model: "m",
    default_agent: "heddle-limited",
    permission,
    agent: { build: { prompt: "p" }, "heddle-limited": { mode: "primary", permission } },
  });
});

test("[ACPA25] one that is another program, did not take it, or used its own tool is stopped", async () => {
  const work = { ownTools: false };
  const used = {
    update: {
      sessionUpdate: "tool_call",
      toolCallId: "c1",
      title: "bash",
      kind: "execute",
      status: "completed",
    },
  };
  for (const script of [
    { session: modeOption("heddle-limited") },
    { initialized: opencodeInitialized, session: modeOption("build") },
    {
      initialized: opencodeInitialized,
      session: modeOption("heddle-limited"),
      turns: [{ steps: [used, { hang: true }] }],
    },
  ]) {
    const at = await acpStage(script, { named: "opencode" });
    const events = await at.turn([user("Go")], { work });
    expect(events.at(-1)).toMatchObject({ type: "failed", code: "program.unlimited" });
  }
});

test("[ACPA23] an id that the model gives to two calls does not lend the name of one to the other", async () => {
  const call = {
    sessionUpdate: "tool_call",
    toolCallId: "c1",
    kind: "other",
    status: "pending",
    rawInput: {},
  };
  const script = {
    initialized: opencodeInitialized,
    turns: [
      {
        steps: [
          { update: { ...call, title: "heddle_notes_add" } },
          asks(),
          { update: { ...call, kind: "execute", title: "bash" } },
          asks(),
          done("c1"),
        ],
      },
    ],
  };
  const at = await acpStage(script, { named: "opencode" });
  const events = await at.turn([user("Go")], { answer: "deny", tools, work: { bridge } });
  expect(at.asked.map(({ id, name }) => [id, name])).toEqual([
    ["c1", "execute"],
    ["c1-2", "bash"],
  ]);
  expect(await answersOf(at)).toEqual([selected("r1"), selected("r1")]);
  expect(ofType(events, "tool_call").map(({ id, name }) => [id, name])).toEqual([
    ["c1", "notes_add"],
    ["c1-2", "bash"],
  ]);
  expect(ofType(events, "tool_result").map(({ id, failed }) => [id, failed])).toEqual([
    ["c1", true],
    ["c1-2", true],
  ]);
});

test("[ACPA26] opencode is made to ask", async () => {
  const env = { OPENCODE_CONFIG_CONTENT: JSON.stringify({ permission: { read: "deny", bash: "allow" } }) };
  const at = await acpStage({ initialized: opencodeInitialized }, { named: "opencode", env });
  await at.turn([user("Go")]);
  const [{ env: seen = {} } = {}] = await at.heard();
  expect(JSON.parse(seen.OPENCODE_CONFIG_CONTENT ?? "").permission).toMatchObject({
    read: "deny",
    edit: "ask",
    bash: "ask",
    webfetch: "ask",
  });
});

test("[ACPA22] [ACPA25] Gemini CLI is limited by a policy that is gone again, and never told always", async () => {
  const initialized = { agentInfo: { name: "gemini-cli", version: "1" } };
  const once = { toolCallId: "mcp_heddle_notes_add__x1", kind: "other", content: [], rawInput: undefined };
  const limited = await acpStage({ initialized, turns: [{ steps: [asks(once)] }] }, { named: "gemini" });
  await limited.turn([user("Go")], { tools, work: { ownTools: false, bridge } });
  expect(await answersOf(limited)).toEqual([selected("o1")]);
  const [{ args = [], policy = "" } = {}] = await limited.heard();
  expect(args.slice(0, 2)).toEqual(["acp", "--policy"]);
  expect(policy).toContain('toolName = "*"\ndecision = "deny"');
  expect(policy).toContain('toolName = ["mcp_heddle_notes_add"]\ndecision = "allow"');
  expect(existsSync(dirname(args.at(-1) ?? ""))).toBe(false);
  const free = await acpStage(
    { initialized, turns: [{ steps: [asks({ toolCallId: "write_file__x1" })] }] },
    { named: "gemini" },
  );
  await free.turn([user("Go")], { answer: "always" });
  expect(free.asked.map(({ name }) => name)).toEqual(["write_file"]);
  expect(await answersOf(free)).toEqual([selected("o1")]);
});
