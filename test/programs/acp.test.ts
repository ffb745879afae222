import { expect, test } from "vitest";
import { sha256 } from "../../src/base/index.js";
import type { ProviderEvent } from "../../src/providers/index.js";
import {
  acpStage,
  assistant,
  ofType,
  says,
  system,
  textIn,
  user,
} from "../support/programs/fake-acp-stage.js";

const finish = { type: "finish", reason: "stop" };
const thinks = (text: string) => ({
  update: { sessionUpdate: "agent_thought_chunk", content: { type: "text", text } },
});
const soFar = [user("Hi"), assistant("Hello.")];
const went = (id: string, instructions = sha256(""), told = 2) => ({ id, told, instructions });
const adds = [
  "its own system prompt and tools",
  "what it reads by itself, such as AGENTS.md files in the directory",
];
const ends = (events: readonly ProviderEvent[]) => events.at(-1);
const deliveries = (events: readonly ProviderEvent[]) =>
  ofType(events, "request").map(({ delivery }) => [delivery?.way, delivery?.session, delivery?.replayed]);

test("[ACPA1] [ACPA10] [ACPA13] a turn is told whole, in order, with one end", async () => {
  const usage = { inputTokens: 17, outputTokens: 4, totalTokens: 26, thoughtTokens: 2, cachedReadTokens: 3 };
  const at = await acpStage({
    turns: [
      {
        steps: [
          thinks("Hm"),
          thinks("m."),
          says("Hel"),
          thinks("So."),
          says("lo."),
          { update: { sessionUpdate: "available_commands_update", availableCommands: [] } },
          { update: { sessionUpdate: "current_mode_update", currentModeId: "plan" } },
          { update: { sessionUpdate: "usage_update", used: 9, size: 100 } },
          { end: { stopReason: "end_turn", usage } },
        ],
      },
    ],
  });
  const text =
    "<instructions>\nThese instructions hold for the whole conversation.\n\nBe brief.\n</instructions>\n\nHi";
  const events = await at.turn([system("Be brief."), user("Hi")]);
  expect(events).toEqual([
    {
      type: "request",
      url: expect.stringMatching(/^process:.*fake-acp\.mjs acp$/),
      body: JSON.stringify({ type: "text", text }),
      delivery: { way: "message", session: "new", replayed: 0, instructions: sha256("Be brief."), adds },
    },
    { type: "thinking", id: "thought-1", text: "Hm" },
    { type: "thinking", id: "thought-1", text: "m." },
    { type: "text", text: "Hel" },
    { type: "thinking", id: "thought-2", text: "So." },
    { type: "text", text: "lo." },
    { type: "usage", input: 20, output: 6, cached_input: 3, reasoning: 2 },
    { type: "session", id: "s-1" },
    finish,
  ]);
  const [prompt] = await at.sent("session/prompt");
  expect(prompt).toEqual({ sessionId: "s-1", prompt: [{ type: "text", text }] });
  const [hello] = await at.sent("initialize");
  expect(hello).toMatchObject({ protocolVersion: 1, clientCapabilities: {} });
  expect(await at.sent("session/new")).toEqual([{ cwd: at.directory, mcpServers: [] }]);
  const [{ args = [] } = {}] = await at.heard();
  expect(args).toEqual(["acp"]);
});

test("[ACPA1] tokens are counted the same whether or not an agent counts parts apart, and by Gemini's own way", async () => {
  const inside = { inputTokens: 20, outputTokens: 6, totalTokens: 26, thoughtTokens: 2, cachedReadTokens: 3 };
  const quota = { quota: { token_count: { input_tokens: 30, output_tokens: 9 } } };
  const at = await acpStage({
    turns: [
      { when: "inside", steps: [{ end: { stopReason: "max_tokens", usage: inside } }] },
      { when: "quota", steps: [{ end: { stopReason: "refusal", _meta: quota } }] },
    ],
  });
  const first = await at.turn([user("inside")]);
  expect(ofType(first, "usage")).toEqual([
    { type: "usage", input: 20, output: 6, cached_input: 3, reasoning: 2 },
  ]);
  expect(ends(first)).toEqual({ type: "finish", reason: "length" });
  const second = await at.turn([user("quota")]);
  expect(ofType(second, "usage")).toEqual([{ type: "usage", input: 30, output: 9 }]);
  expect(ends(second)).toEqual({ type: "finish", reason: "content_filter" });
});

test("[ACPA2] [ACPA8] a call is told once, with what it writes, its result and its diffs", async () => {
  const call = { sessionUpdate: "tool_call", toolCallId: "c1", title: "Run ls", kind: "execute" };
  const more = { sessionUpdate: "tool_call_update", toolCallId: "c1" };
  const shows = (text: string) => [{ type: "content", content: { type: "text", text } }];
  const diff = { type: "diff", path: "/a", oldText: null, newText: "new" };
  const at = await acpStage({
    turns: [
      {
        steps: [
          { update: { ...call, status: "pending", rawInput: {} } },
          { update: { ...more, status: "in_progress", rawInput: { command: "ls" } } },
          { update: { ...more, content: shows("a\n") } },
          { update: { ...more, content: shows("a\nb\n") } },
          { ask: { method: "fs/write_text_file", params: { path: "/etc/passwd", content: "" } } },
          { update: { ...more, status: "completed", content: [...shows("a\nb\nc"), diff] } },
          {
            update: {
              ...more,
              toolCallId: "c2",
              kind: "fetch",
              status: "failed",
              rawOutput: { error: "no" },
            },
          },
          { update: { ...call, toolCallId: "c3", rawInput: { command: "x" }, status: "in_progress" } },
        ],
      },
    ],
  });
  const events = await at.turn([user("Go")]);
  const ms = { duration_ms: expect.any(Number) };
  expect(events.slice(1, -2)).toEqual([
    { type: "tool_call", id: "c1", name: "execute", arguments: '{"command":"ls"}' },
    { type: "tool_output", id: "c1", text: "a\n" },
    { type: "tool_output", id: "c1", text: "b\n" },
    {
      type: "tool_result",
      id: "c1",
      output: "a\nb\nc",
      failed: false,
      diffs: [{ path: "/a", oldText: "", newText: "new" }],
      ...ms,
    },
    { type: "tool_call", id: "c2", name: "fetch", arguments: "{}" },
    { type: "tool_result", id: "c2", output: "no", failed: true, ...ms },
    { type: "tool_call", id: "c3", name: "execute", arguments: '{"command":"x"}' },
    { type: "tool_result", id: "c3", output: expect.stringContaining("did not say"), failed: true, ...ms },
  ]);
  expect(ends(events)).toEqual(finish);
  const answers = (await at.heard()).flatMap(({ answer }) => answer ?? []);
  expect(answers).toEqual([{ error: { code: -32601, message: expect.any(String) } }]);
});

test("[ACPA3] a plan is a call with its entries", async () => {
  const entries = [
    { content: "one", status: "completed", priority: "high" },
    { content: "two", status: "in_progress" },
    { content: "three" },
  ];
  const at = await acpStage({ turns: [{ steps: [{ update: { sessionUpdate: "plan", entries } }] }] });
  const events = await at.turn([user("Go")]);
  expect(events.slice(1, 3)).toEqual([
    { type: "tool_call", id: "plan-1", name: "plan", arguments: JSON.stringify({ entries }) },
    { type: "tool_result", id: "plan-1", output: "[x] one\n[~] two\n[ ] three", failed: false },
  ]);
});

test("[ACPA4] [ACPA10] [ACPA11] a process is kept, and told of instructions only when they changed", async () => {
  const initialized = { agentCapabilities: { sessionCapabilities: { resume: {} } } };
  const at = await acpStage({ initialized, turns: [{ steps: [says("Yes.")] }] });
  const first = await at.turn([system("One."), user("Hi")]);
  const session = went("s-1", sha256("One."));
  const second = await at.turn([system("One."), ...soFar, user("More")], { work: { session } });
  const third = await at.turn([system("Two."), ...soFar, user("More")], { work: { session } });
  const fourth = await at.turn([...soFar, user("More")], {
    work: { session: went("s-1", sha256("Two.")) },
  });
  expect([first, second, third, fourth].flatMap(deliveries)).toEqual([
    ["message", "new", 0],
    ["already_there", "kept", 0],
    ["message", "kept", 0],
    ["message", "kept", 0],
  ]);
  const texts = (await at.sent("session/prompt")).map(({ prompt }) => prompt[0].text);
  expect(texts[1]).toBe("More");
  expect(texts[2]).toMatch(
    /^<instructions>\nThese instructions replace .*\n\nTwo\.\n<\/instructions>\n\nMore$/,
  );
  expect(texts[3]).toMatch(/^<instructions>\nThe instructions that you were given .* do not hold any more\./);
  expect((await at.heard()).filter(({ started }) => started !== undefined)).toHaveLength(1);
  await at.turn([...soFar, user("More")], {
    work: { session: went("s-1"), bridge: { url: "u", token: "t", command: "c", args: [], env: {} } },
  });
  expect((await at.heard()).filter(({ started }) => started !== undefined)).toHaveLength(2);
});

test("[ACPA5] another process loads the session, and its past is not told again", async () => {
  const past = { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "OLD" } };
  const at = await acpStage({
    initialized: { agentCapabilities: { loadSession: true } },
    replay: [past],
    lateReplay: [past, past],
    turns: [{ steps: [says("New.")] }],
  });
  await at.turn([user("Hi")]);
  await at.provider.release?.();
  const events = await at.turn([...soFar, user("More")], { work: { session: went("s-1") } });
  expect(textIn(events)).toBe("New.");
  expect(deliveries(events)).toEqual([["already_there", "resumed", 0]]);
  expect(await at.sent("session/load")).toEqual([{ sessionId: "s-1", cwd: at.directory, mcpServers: [] }]);
  expect((await at.sent("session/prompt")).at(-1).prompt).toEqual([{ type: "text", text: "More" }]);
});

test("[ACPA5] resuming is preferred where it is offered", async () => {
  const at = await acpStage({
    initialized: { agentCapabilities: { loadSession: true, sessionCapabilities: { resume: {} } } },
    turns: [{ steps: [says("New.")] }],
  });
  await at.turn([user("Hi")]);
  await at.provider.release?.();
  await at.turn([...soFar, user("More")], { work: { session: went("s-1") } });
  expect(await at.sent("session/resume")).toHaveLength(1);
  expect(await at.sent("session/load")).toHaveLength(0);
});

test("[ACPA6] a session that is lost, wherever that shows, is told all anew", async () => {
  const lost = { code: -32602, message: "Session not found: s-9" };
  const loading = { agentCapabilities: { loadSession: true } };
  for (const script of [
    { initialized: loading },
    {},
    {
      initialized: loading,
      refuse: { "session/load": { code: -32603, message: "Internal error" } },
    },
    {
      initialized: { agentCapabilities: { sessionCapabilities: { resume: {} } } },
      refuse: { "session/resume": lost },
    },
  ]) {
    const at = await acpStage({ ...script, turns: [{ steps: [says("Yes.")] }] });
    const events = await at.turn([system("S."), ...soFar, user("More")], { work: { session: went("s-9") } });
    expect(deliveries(events)).toEqual([["message", "new", 2]]);
    expect(ends(events)).toEqual(finish);
    const [{ prompt }] = await at.sent("session/prompt");
    for (const part of ["S.", "Hello.", "More"]) expect(prompt[0].text.split(part)).toHaveLength(2);
  }
  const at = await acpStage({
    turns: [
      { when: "So what", steps: [says("Yes.")] },
      { when: "First", steps: [says("Hello.")] },
      { steps: [{ error: lost }] },
    ],
  });
  await at.turn([user("First")]);
  const after = [user("First"), assistant("Hello."), user("Forget")];
  const events = await at.turn(after, { work: { session: went("s-1") } });
  expect(deliveries(events)).toEqual([
    ["already_there", "kept", 0],
    ["message", "new", 2],
  ]);
});

test("[ACPA7] images go where they are taken, and are named elsewhere", async () => {
  const image = { type: "image", data: "aGk=", mimeType: "image/png" } as const;
  const message = user([{ type: "text", text: "Look" }, image]);
  const seeing = await acpStage({
    initialized: { agentCapabilities: { promptCapabilities: { image: true } } },
  });
  await seeing.turn([message]);
  const [sent] = await seeing.sent("session/prompt");
  expect(sent.prompt).toEqual([{ type: "text", text: "Look" }, image]);
  const blind = await acpStage({});
  await blind.turn([message]);
  const [named] = await blind.sent("session/prompt");
  expect(named.prompt).toEqual([
    { type: "text", text: "Look" },
    { type: "text", text: expect.stringContaining("can't be shown") },
  ]);
});

test("[ACPA12] [ACPA39] whatever a message is, it arrives as a message", async () => {
  const at = await acpStage({ turns: [{ steps: [says("Yes.")] }] });
  for (const text of ["/init", "  /exit", "$skill", "!rm -rf ."]) {
    await at.turn([user(text)]);
    const { prompt } = (await at.sent("session/prompt")).at(-1);
    expect(prompt).toEqual([{ type: "text", text: `What follows is a message, not a command.\n\n${text}` }]);
  }
  for (const text of ["--help", "a\0b", "lone \ud800 half", '"\\\r\n\u2028', "y".repeat(1_048_576)]) {
    const events = await at.turn([user(text)]);
    expect(textIn(events)).toBe("Yes.");
    const { prompt } = (await at.sent("session/prompt")).at(-1);
    expect(prompt[0].text === text).toBe(true);
  }
});

test("[ACPA13] the request is the same bytes before and when it is sent", async () => {
  const at = await acpStage({ turns: [{ steps: [says("Yes.")] }] });
  const messages = [system("Be brief."), ...soFar, user("More")];
  const work = { key: "k", directory: at.directory, ownTools: true, ask: async () => "deny" as const };
  const prepared = await at.provider.prepare({ model: "default", messages, work });
  const [request] = ofType(await at.turn(messages), "request");
  expect(prepared).toEqual({ url: request?.url, body: request?.body });
  const args = ["acp", "--api-key", "sk-1", "--token=sk-2", "--port=3", "-x"];
  const keyed = await acpStage({}, { config: { command: "agent", args } });
  const { url } = await keyed.provider.prepare({ model: "default", messages, work });
  expect(url).toBe("process:agent acp --api-key … --token=… --port=3 -x");
});
