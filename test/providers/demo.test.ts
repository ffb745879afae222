import { describe, expect, test } from "vitest";
import {
  createProvider,
  type GenerateRequest,
  type PromptMessage,
  type ProviderEvent,
} from "../../src/providers/index.js";
import { collect, failure, ofType, textIn } from "./support.js";

const demo = (config: object = { delayMs: 0 }) => createProvider({ provider: "demo", config });

const tools = [
  { name: "files_read", description: "", parameters: { type: "object", properties: { path: {} } } },
  { name: "system_time", description: "", parameters: { type: "object" } },
];

const say = (content: string, more: Partial<GenerateRequest> = {}): GenerateRequest => ({
  model: "demo",
  messages: [{ role: "user", content }],
  ...more,
});

describe("the demo provider", () => {
  test("[PROV50] it greets, tells its instructions and its tools, and says the same to the same words", async () => {
    const messages: PromptMessage[] = [
      { role: "system", content: "Be brief." },
      { role: "developer", content: "Be kind." },
      { role: "user", content: "Hello there" },
    ];
    const events = await collect(demo(), { model: "demo", messages, tools });
    expect(textIn(events)).toMatch(/^Hello! .*2 instructions \(17 characters\).*files_read, system_time/);
    expect(ofType(events, "text").length).toBeGreaterThan(10);
    expect(await collect(demo(), { model: "demo", messages, tools })).toEqual(events);
    expect(events.slice(-2)).toMatchObject([{ type: "usage" }, { type: "finish", reason: "stop" }]);
  });

  test("[PROV51] it calls a tool that it is asked for and offered, and tells what came of it", async () => {
    const calls = async (text: string) =>
      ofType(await collect(demo(), say(text, { tools })), "tool_call").map(({ type: _, ...call }) => call);
    const time = { id: "call_1", name: "system_time", arguments: "{}" };
    expect(await calls("What time is it?")).toEqual([time]);
    const read = { id: "call_1", name: "files_read", arguments: '{"path":"docs/a.md"}' };
    expect(await calls("Please read docs/a.md.")).toEqual([read]);
    expect(await calls('call files_read with {"path": "x y"}')).toEqual([
      { ...read, arguments: '{"path": "x y"}' },
    ]);
    expect(await calls("I have read docs/a.md.")).toEqual([]);
    expect(await calls("call no_such_tool")).toEqual([]);
    const messages: PromptMessage[] = [
      { role: "user", content: "What time is it?" },
      { role: "assistant", content: "", tool_calls: [time] },
      { role: "tool", tool_call_id: "call_1", name: "system_time", content: "noon" },
    ];
    const after = await collect(demo(), { model: "demo", messages, tools });
    expect(textIn(after)).toContain("noon");
    expect(after.at(-1)).toMatchObject({ type: "finish", reason: "stop" });
  });

  test("[PROV54] it asks another agent, runs a command and takes a note when it is asked to and has the tool", async () => {
    const offered = ["agents_message", "bash", "notes_create"].map((name) => ({
      name,
      description: "",
      parameters: { type: "object" },
    }));
    const called = async (text: string) =>
      ofType(await collect(demo(), say(text, { tools: offered })), "tool_call").map(
        ({ name, arguments: given }) => [name, JSON.parse(given)],
      );
    expect(await called("Ask demo-notes to write down: buy milk")).toEqual([
      ["agents_message", { agentId: "demo-notes", content: "write down: buy milk" }],
    ]);
    expect(await called("please run `ls -la`")).toEqual([["bash", { command: "ls -la" }]]);
    expect(await called("Write down: buy milk")).toEqual([
      ["notes_create", { title: "buy milk", content: "buy milk" }],
    ]);
    expect(await called("[agents_message] it came back. You had asked: write down: buy milk")).toEqual([]);
    const result = JSON.stringify({ status: "complete", agentId: "demo-notes", response: "noted" });
    const messages: PromptMessage[] = [
      { role: "user", content: "go" },
      { role: "tool", tool_call_id: "call_1", name: "agents_message", content: result },
    ];
    expect(textIn(await collect(demo(), { model: "demo", messages, tools: offered }))).toBe(
      "demo-notes answered: noted",
    );
  });

  test("[PROV51] without the tool it says what it has", async () => {
    const events = await collect(demo(), say("What time is it?"));
    expect(ofType(events, "tool_call")).toEqual([]);
    expect(textIn(events)).toContain("I have no tools");
  });

  test("[PROV52] it keeps to parameters, and any message will do", async () => {
    const short = await collect(demo(), say("Hello", { params: { max_tokens: 3 } }));
    expect(ofType(short, "text")).toHaveLength(3);
    expect(short.at(-1)).toMatchObject({ type: "finish", reason: "length" });
    const thoughtful = await collect(demo(), say("Hello", { params: { reasoning_effort: "low" } }));
    expect(ofType(thoughtful, "thinking").length).toBeGreaterThan(1);
    const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
    const odd: GenerateRequest[] = [
      { model: "demo", messages: [] },
      say(""),
      say("\u0000\ud800 \u202e"),
      say("x".repeat(100_000)),
      { model: "demo", messages: [{ role: "user", content: [image] }] },
      { model: "demo", messages: [{ role: "assistant", content: "So." }] },
    ];
    for (const request of odd)
      expect((await collect(demo(), request)).at(-1)).toMatchObject({ type: "finish" });
  });

  test("[PROV45] an abort stops it between two words", async () => {
    const stop = new AbortController();
    const events: ProviderEvent[] = [];
    const slow = demo({ delayMs: 1_000 }).generate(say("Hello"), { signal: stop.signal });
    setTimeout(() => stop.abort(), 20);
    for await (const event of slow) events.push(event);
    expect(events.map(({ type }) => type)).toEqual(["request", "aborted"]);
    expect(await collect(demo(), say("Hello"), AbortSignal.abort())).toEqual([{ type: "aborted" }]);
  });
});

describe("the scripted provider", () => {
  const scripted = (turns: object[]) => createProvider({ provider: "scripted", config: { turns } });

  test("[PROV53] it plays its turns in order, and then has nothing to say", async () => {
    const usage = { input: 1, output: 2, cached_input: 1 };
    const tool_call = { id: "c1", name: "t", arguments: ["{", "}"] };
    const provider = scripted([
      { steps: [{ thinking: ["a", "b"], signature: "s" }, { text: ["c", "d"] }, { tool_call }, { usage }] },
      { steps: [{ delay_ms: 1 }, { text: "e" }, { finish: "length" }] },
      { steps: [{ fail: { code: "provider.overloaded", message: "Too much" } }] },
    ]);
    expect((await collect(provider, say("x"))).slice(1)).toEqual([
      { type: "thinking", id: "thought_1", text: "a" },
      { type: "thinking", id: "thought_1", text: "b" },
      { type: "thinking", id: "thought_1", text: "", providerData: { scripted: { signature: "s" } } },
      { type: "text", text: "c" },
      { type: "text", text: "d" },
      { type: "tool_input", id: "c1", name: "t", text: "{" },
      { type: "tool_input", id: "c1", name: "t", text: "}" },
      { type: "tool_call", id: "c1", name: "t", arguments: "{}" },
      { type: "usage", ...usage },
      { type: "finish", reason: "tool_calls" },
    ]);
    expect((await collect(provider, say("x"))).at(-1)).toEqual({ type: "finish", reason: "length" });
    expect(failure(await collect(provider, say("x")))).toMatchObject({
      code: "provider.overloaded",
      retryable: true,
    });
    expect(failure(await collect(provider, say("x"))).message).toContain("no turn");
  });

  test("[PROV53] a turn can wait for words of the request, and be played again", async () => {
    const provider = scripted([
      { when: "weather", repeat: true, steps: [{ text: "Sunny" }] },
      { steps: [{ text: "Else" }] },
    ]);
    const said = [];
    for (const text of ["hello", "weather?", "weather!"])
      said.push(textIn(await collect(provider, say(text))));
    expect(said).toEqual(["Else", "Sunny", "Sunny"]);
  });

  test("[PROV45] an abort ends a script that hangs", async () => {
    const stop = new AbortController();
    const provider = scripted([{ steps: [{ text: "a" }, { hang: true }] }]);
    setTimeout(() => stop.abort(), 20);
    expect((await collect(provider, say("x"), stop.signal)).slice(1)).toEqual([
      { type: "text", text: "a" },
      { type: "aborted" },
    ]);
  });
});
