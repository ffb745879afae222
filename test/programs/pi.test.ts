import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { sha256 } from "../../src/base/index.js";
import type { ProviderEvent } from "../../src/providers/index.js";
import {
  all,
  answer,
  assistant,
  piStage,
  type Step,
  system,
  user,
} from "../support/programs/fake-pi-stage.js";

const finish = { type: "finish", reason: "stop" };
const soFar = [user("Hi"), assistant("Hello.")];
const session = (id: string, told = 2) => ({ id, told, instructions: "" });
const bridge = { url: "http://127.0.0.1:9/mcp", token: "bridge-secret", command: "", args: [], env: {} };
const tool = (name: string) => ({ name, description: `${name} it`, parameters: { type: "object" } });

function ofType<T extends ProviderEvent["type"]>(events: readonly ProviderEvent[], type: T) {
  return events.filter((event): event is Extract<ProviderEvent, { type: T }> => event.type === type);
}

test("[PIA1] [PIA15] a turn is told whole, in order, with one end", async () => {
  const at = await piStage({
    session: "s-1",
    turns: [
      {
        steps: [
          { type: "message_start", message: { role: "assistant", content: [] } },
          piece({ type: "thinking_delta", contentIndex: 0, delta: "Hm" }),
          piece({ type: "thinking_delta", contentIndex: 0, delta: "m." }),
          piece({ type: "text_delta", contentIndex: 1, delta: "Hel" }),
          piece({ type: "text_delta", contentIndex: 1, delta: "lo." }),
          ended({ usage: { input: 5, output: 2, cacheRead: 3, cacheWrite: 2, reasoning: 1 } }),
          ...answer(" Bye.", { usage: { input: 1, output: 1 } }),
        ],
      },
    ],
  });
  expect(await at.turn([system("Be brief."), user("Hi")])).toEqual([
    {
      type: "request",
      url: `process:${process.execPath} --mode rpc`,
      body: expect.stringContaining('"instructions":"Be brief."'),
      delivery: {
        way: "system_prompt",
        session: "new",
        replayed: 0,
        instructions: sha256("Be brief."),
        adds: [
          "pi's own system prompt, before the instructions",
          "the date and the directory",
          "pi's own tools: read, bash, edit, write",
        ],
      },
    },
    { type: "thinking", id: "1.0", text: "Hm" },
    { type: "thinking", id: "1.0", text: "m." },
    { type: "text", text: "Hel" },
    { type: "text", text: "lo." },
    { type: "text", text: " Bye." },
    { type: "usage", input: 11, output: 3, cached_input: 3, reasoning: 1 },
    { type: "session", id: "s-1" },
    finish,
  ]);
});

const piece = (assistantMessageEvent: Step) => ({ type: "message_update", assistantMessageEvent });
const ended = (more: Step) => ({
  type: "message_end",
  message: { role: "assistant", content: [{ type: "text", text: "Hello." }], stopReason: "stop", ...more },
});

test("[PIA15] the same request gives the same bytes, without the token", async () => {
  const at = await piStage({});
  const request = { ...at.request([system("S"), ...soFar, user("Q")], { bridge }), tools: [tool("shout")] };
  const prepared = await at.provider.prepare(request);
  expect(await at.provider.prepare(request)).toEqual(prepared);
  expect(prepared.body).not.toContain("bridge-secret");
  const [args, told, prompt] = prepared.body.split("\n").map((line) => JSON.parse(line));
  expect(args).toContain("--no-context-files");
  expect(told).toMatchObject({
    instructions: "S",
    tools: [{ name: "shout", as: "shout" }],
    bridge: bridge.url,
  });
  expect(prompt.message).toContain("[you]\nHello.");
  expect(prompt.message.endsWith("Q")).toBe(true);
});

test("[PIA2] a call is told with what it writes and what came of it", async () => {
  const call = { toolCallId: "c1", toolName: "bash", args: { command: "ls" } };
  const at = await piStage({
    turns: [
      {
        steps: [
          { type: "message_start", message: { role: "assistant", content: [] } },
          piece({ type: "toolcall_start", contentIndex: 0, id: "c1", toolName: "bash" }),
          piece({ type: "toolcall_delta", contentIndex: 0, delta: '{"command":"ls"}' }),
          { type: "message_end", message: { role: "assistant", content: [], stopReason: "toolUse" } },
          { type: "tool_execution_start", ...call },
          { may: { id: "c1", name: "bash", input: { command: "ls" } } },
          ...["a\n", "a\nb\n", "b\nc\n"].map((text) => ({
            type: "tool_execution_update",
            ...call,
            partialResult: content(text),
          })),
          { type: "tool_execution_end", ...call, result: content("a\nb\nc\n"), isError: false },
          ...answer("Done."),
        ],
      },
    ],
  });
  const events = await at.turn([user("List")]);
  expect(events.slice(1)).toEqual([
    { type: "tool_input", id: "c1", name: "bash", text: '{"command":"ls"}' },
    { type: "tool_call", id: "c1", name: "bash", arguments: '{"command":"ls"}' },
    { type: "tool_output", id: "c1", text: "a\n" },
    { type: "tool_output", id: "c1", text: "b\n" },
    { type: "tool_output", id: "c1", text: "b\nc\n" },
    { type: "tool_result", id: "c1", output: "a\nb\nc\n", failed: false, duration_ms: expect.any(Number) },
    { type: "text", text: "Done." },
    { type: "session", id: expect.any(String) },
    finish,
  ]);
});

const content = (text: string) => ({ content: [{ type: "text", text }] });

test("[PIA4] [PIA6] the next turn goes to the same process, with the newest instructions and tools", async () => {
  const at = await piStage({ session: "s-1", turns: [{ steps: answer("A") }, { steps: answer("B") }] });
  await at.turn([system("One."), user("Hi")]);
  const work = { session: session("s-1"), bridge: { ...bridge, token: "another" } };
  const request = at.request([system("Two."), ...soFar, user("And?")], work);
  const second = await all(at.provider.generate({ ...request, tools: [tool("shout")] }));
  expect(second[0]).toMatchObject({ delivery: { session: "kept", way: "system_prompt", replayed: 0 } });
  expect(second.at(-1)).toEqual(finish);
  expect(at.starts()).toHaveLength(1);
  expect(at.offers()).toMatchObject([
    { instructions: "One.", tools: [] },
    { instructions: "Two.", tools: [{ name: "shout" }], bridge: { url: bridge.url, token: "another" } },
  ]);
  expect(at.prompts().map(({ message }) => message)).toEqual(["Hi", "And?"]);
});

test("[PIA6] an extension that asks late is told too", async () => {
  const turns = [{ steps: answer("A") }, { steps: answer("B") }];
  const at = await piStage({ start: { late: true }, session: "s-1", turns });
  await at.turn([system("One."), user("Hi")]);
  await at.turn([system("Two."), ...soFar, user("And?")], { session: session("s-1") });
  expect(at.offers()).toMatchObject([{ instructions: "One." }, { instructions: "Two." }]);
  expect(at.starts()).toHaveLength(1);
});

test("[PIA4] another model, effort, directory or other own tools need another process", async () => {
  const at = await piStage({ session: "s-1", turns: [{ steps: answer("A") }] });
  await at.turn([user("Hi")]);
  const other = join(at.home, "other");
  await mkdir(other);
  const request = at.request([...soFar, user("And?")], { session: session("s-1") });
  for (const changed of [
    { ...request, model: "other/model" },
    { ...request, params: { reasoning_effort: "max" as const } },
    at.request([...soFar, user("And?")], { session: session("s-1"), ownTools: false }),
    at.request([...soFar, user("And?")], { session: session("s-1"), directory: other }),
  ]) {
    const events = await all(at.provider.generate(changed));
    expect(events[0]).toMatchObject({ delivery: { session: "resumed" } });
    expect(events.at(-1)).toEqual(finish);
  }
  const args = at.starts().map(({ argv = [] }) => argv.join(" "));
  expect(args).toHaveLength(5);
  expect(args[1]).toContain("--model other/model --session s-1");
  expect(args[2]).toContain("--thinking xhigh --session s-1");
  expect(args[3]).toContain("--no-builtin-tools");
});

test.each([
  ["is not known", { id: "gone", start: {} }],
  ["has no name that could be one", { id: "--version", start: {} }],
  ["turns out to be another", { id: "s-1", start: { session: "s-2" } }],
])("[PIA5] a session that %s is replaced, and told everything", async (_, { id, start }) => {
  const at = await piStage({ session: "s-1", turns: [{ steps: answer("A") }] });
  await at.turn([user("Hi")]);
  await at.provider.release?.();
  await at.play({ start: start as Step, session: "s-2", turns: [{ steps: answer("B") }] });
  const events = await at.turn([system("S"), ...soFar, user("And?")], { session: session(id) });
  expect(events.map(({ type }) => type)).toEqual(["request", "text", "session", "finish"]);
  expect(events[0]).toMatchObject({ delivery: { session: "new", replayed: 2 } });
  expect(at.prompts().at(-1)?.message).toContain("[user]\nHi\n\n[you]\nHello.");
  expect(at.offers().at(-1)).toMatchObject({ instructions: "S" });
});

test("[PIA5] a session that turns out to be empty is replaced", async () => {
  const at = await piStage({ turns: [{ steps: answer("B") }] });
  await writeFile(join(at.home, "sessions.json"), '{"s-1":0}');
  const events = await at.turn([...soFar, user("And?")], { session: session("s-1") });
  expect(events[0]).toMatchObject({ delivery: { session: "new", replayed: 2 } });
});

test("[PIA7] hostile texts go over standard input only, word for word", async () => {
  const instructions = `--append ${"i".repeat(1024 * 1024)}`;
  const message = `-p "x"\n\0 \ud800 \u2028 ${"m".repeat(1024 * 1024)}`;
  const at = await piStage({ turns: [{ steps: answer("A") }] });
  expect((await at.turn([system(instructions), user(message)])).at(-1)).toEqual(finish);
  expect(at.offers()[0]?.instructions).toBe(instructions);
  expect(at.prompts()[0]?.message).toBe(message);
  expect(at.starts()[0]?.argv?.join(" ").length).toBeLessThan(1_000);
});

test("[PIA8] [PIA32] [PDT34] pi is told to leave its own things out, and to stay off the network", async () => {
  const at = await piStage({ turns: [{ steps: answer("A") }] });
  await at.turn([user("Hi")]);
  const [{ argv = [], env = {} } = {}] = at.starts();
  expect(argv.slice(0, -2)).toEqual([
    "--mode",
    "rpc",
    "--no-extensions",
    "--no-skills",
    "--no-prompt-templates",
    "--no-themes",
    "--no-context-files",
    "--system-prompt",
    "",
    "--append-system-prompt",
    "",
    "--model",
    "some/model",
  ]);
  const { PWD: _1, SHLVL: _2, _: _3, ...seen } = env;
  expect(Object.keys(seen).sort()).toEqual([
    "FAKE_PI",
    "HEDDLE_CHILD",
    "HOME",
    "JITI_FS_CACHE",
    "NO_PROXY",
    "PATH",
    "PI_OFFLINE",
    "PI_SKIP_VERSION_CHECK",
    "PI_TELEMETRY",
    "SOME_API_KEY",
    "no_proxy",
  ]);
});

test("[PIA9] tools of Heddle keep their names, and are told as Heddle names them", async () => {
  const at = await piStage({
    turns: [
      {
        steps: [
          { type: "tool_execution_start", toolCallId: "c", toolName: "heddle_bash", args: {} },
          { type: "tool_execution_end", toolCallId: "c", result: content("no"), isError: true },
          ...answer("Done."),
        ],
      },
    ],
  });
  const request = { ...at.request([user("Go")], { bridge }), tools: [tool("bash"), tool("notes_add")] };
  const events = await all(at.provider.generate(request));
  expect(at.offers()[0]?.tools).toMatchObject([
    { name: "heddle_bash", as: "bash" },
    { name: "notes_add", as: "notes_add" },
  ]);
  expect(events).toContainEqual({ type: "tool_call", id: "c", name: "bash", arguments: "{}" });
  expect(events).toContainEqual(expect.objectContaining({ type: "tool_result", id: "c", failed: true }));
});

test("[PIA10] with own tools off pi's are not there, and Heddle's have their names", async () => {
  const at = await piStage({ turns: [{ steps: answer("A") }] });
  const request = { ...at.request([user("Go")], { bridge, ownTools: false }), tools: [tool("bash")] };
  const events = await all(at.provider.generate(request));
  expect(at.starts()[0]?.argv).toContain("--no-builtin-tools");
  expect(at.offers()[0]).toMatchObject({ own: false, tools: [{ name: "bash", as: "bash" }] });
  expect(JSON.stringify(events[0])).not.toContain("pi's own tools");
});

test("[PIA12] images go with the message", async () => {
  const at = await piStage({ turns: [{ steps: answer("A") }] });
  const image = { type: "image" as const, data: "AAAA", mimeType: "image/png" };
  await at.turn([{ role: "user", content: [{ type: "text", text: "Look" }, image] }]);
  expect(at.prompts()[0]).toMatchObject({ message: "Look", images: [image] });
});

test("[PIA13] a turn goes on while pi tries again or makes room", async () => {
  const failed = answer("", { stopReason: "error", errorMessage: "529 overloaded very-secret" });
  const at = await piStage({
    turns: [
      {
        steps: failed,
        after: [
          { type: "auto_retry_start", attempt: 1, errorMessage: "529 overloaded very-secret" },
          { type: "agent_start" },
          ...answer("Well."),
          { type: "auto_retry_end", success: true, attempt: 1 },
          { type: "agent_end", messages: [] },
          { type: "compaction_start", reason: "threshold" },
          { busy: 2 },
          { type: "compaction_end", reason: "threshold", willRetry: false },
        ],
      },
      { steps: [...answer("Now."), { type: "agent_settled" }], open: true },
    ],
  });
  const events = await at.turn([user("Go")]);
  expect(events.slice(1, -2)).toEqual([
    { type: "diagnostic", text: "pi tries again: 529 overloaded [redacted]" },
    { type: "text", text: "Well." },
    { type: "diagnostic", text: "pi summarises what was said, to make room" },
  ]);
  expect(events.at(-1)).toEqual(finish);

  const id = ofType(events, "session")[0]?.id ?? "";
  const settled = await at.turn([...soFar, user("And?")], { session: session(id) });
  expect(settled.at(-1)).toEqual(finish);
  expect(at.starts()).toHaveLength(1);
});

test("[PIA13] a turn of which the extension is sure is over at once, and its rest does not end the next", async () => {
  const turns = [
    { over: true, steps: answer("A"), after: [{ type: "agent_settled" }] },
    { over: true, steps: answer("B") },
  ];
  const at = await piStage({ session: "s-1", turns });
  await at.turn([user("Hi")]);
  const second = await at.turn([...soFar, user("And?")], { session: session("s-1") });
  expect(second.slice(1)).toEqual([{ type: "text", text: "B" }, { type: "session", id: "s-1" }, finish]);
  const heard = at.logged().flatMap(({ heard: one }) => one?.type ?? []);
  expect(heard.filter((type) => type === "get_state")).toHaveLength(1);
});

test("[PIA14] the recorded output of a newer version is understood", async () => {
  const lines = readFileSync("test/support/programs/fake-pi-newer.jsonl", "utf8").trim().split("\n");
  const steps = lines.map((line) => JSON.parse(line) as Step);
  const at = await piStage({ turns: [{ steps, open: true }] });
  const events = await at.turn([user("Go")]);
  expect(events.slice(1)).toEqual([
    { type: "tool_input", id: "call_43", name: "bash", text: '{"command":"echo hi-from-tool"}' },
    { type: "tool_call", id: "call_43", name: "bash", arguments: '{"command":"echo hi-from-tool"}' },
    { type: "tool_output", id: "call_43", text: "hi-from-tool\n" },
    {
      type: "tool_result",
      id: "call_43",
      output: "hi-from-tool\n",
      failed: false,
      duration_ms: expect.any(Number),
    },
    { type: "text", text: "Hello f" },
    { type: "text", text: "rom the" },
    { type: "text", text: " fake model." },
    { type: "usage", input: 200, output: 24 },
    { type: "session", id: expect.any(String) },
    finish,
  ]);
});

test("[PIA14] an answer that was not streamed is told at its end", async () => {
  const at = await piStage({
    turns: [{ steps: [{ type: "message_start", message: { role: "assistant" } }, ended({})] }],
  });
  expect((await at.turn([user("Go")])).slice(1, 2)).toEqual([{ type: "text", text: "Hello." }]);
});
