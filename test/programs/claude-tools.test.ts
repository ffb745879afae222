import { join } from "node:path";
import { expect, test } from "vitest";
import type { PermissionAnswer } from "../../src/providers/index.js";
import { all, assistant, only, user } from "../support/programs/events.js";
import { type Deed, delta, done, fakeClaude, hello, said, session, stream } from "./claude-support.js";

const use = (id: string, name: string, input: object): Deed => said({ type: "tool_use", id, name, input });
const bash = { tool_name: "Bash", tool_use_id: "t1", input: { command: "make" } };
const bridge = { url: "http://127.0.0.1:9/mcp", token: "first-token", command: "x", args: [], env: {} };

test("[CLD11] a call is told in fragments, then whole, then with what came of it", async () => {
  const { provider, request } = fakeClaude({
    turns: [
      [
        stream({ type: "message_start" }),
        stream({ type: "content_block_start", content_block: { type: "tool_use", id: "t1", name: "Bash" } }),
        delta({ type: "input_json_delta", partial_json: '{"command"' }),
        delta({ type: "input_json_delta", partial_json: ':"make"}' }),
        use("t1", "Bash", { command: "make" }),
        use("t2", "Read", { file_path: "/x" }),
        done("t1", "built", { is_error: false }),
        done("t2", "<tool_use_error>no such file</tool_use_error>", { is_error: true }),
        done("t9", "of no call"),
        ...hello,
      ],
    ],
  });
  const events = await all(provider().generate(request([user("Go")])));
  expect(events.slice(2, 8)).toEqual([
    { type: "tool_input", id: "t1", name: "Bash", text: '{"command"' },
    { type: "tool_input", id: "t1", name: "Bash", text: ':"make"}' },
    { type: "tool_call", id: "t1", name: "Bash", arguments: '{"command":"make"}' },
    { type: "tool_call", id: "t2", name: "Read", arguments: '{"file_path":"/x"}' },
    { type: "tool_result", id: "t1", output: "built", failed: false, duration_ms: expect.any(Number) },
    { type: "tool_result", id: "t2", output: "no such file", failed: true, duration_ms: expect.any(Number) },
  ]);
  expect(only(events, "tool_result")).toHaveLength(2);
});

test("[CLD12] what it changes in files is told as whole texts, with paths of the directory", async () => {
  const fake = fakeClaude({ turns: [hello] });
  const record = (id: string, tool_use_result: object): Deed => ({
    line: { ...(done(id, "ok").line as object), tool_use_result },
  });
  const inside = join(fake.directory, "src/a.txt");
  const edit = { filePath: inside, oldString: "b", newString: "$&", originalFile: "a b b" };
  fake.play({
    turns: [
      [
        use("t1", "Edit", {}),
        record("t1", edit),
        use("t2", "Edit", {}),
        record("t2", { ...edit, replaceAll: true }),
        use("t3", "Write", {}),
        record("t3", { type: "create", filePath: "/elsewhere/b", content: "new", originalFile: null }),
        use("t4", "Edit", {}),
        record("t4", { filePath: inside, oldString: "x", newString: "y", originalFile: null }),
        ...hello,
      ],
    ],
  });
  const events = await all(fake.provider().generate(fake.request([user("Go")])));
  expect(only(events, "tool_result").map(({ diffs }) => diffs)).toEqual([
    [{ path: "src/a.txt", oldText: "a b b", newText: "a $& b" }],
    [{ path: "src/a.txt", oldText: "a b b", newText: "a $& $&" }],
    [{ path: "/elsewhere/b", oldText: "", newText: "new" }],
    [{ path: "src/a.txt", oldText: "x", newText: "y" }],
  ]);
});

test("[CLD13] a subagent's calls are told, its words are not", async () => {
  const under = { parent_tool_use_id: "t1" };
  const nested = (deed: Deed): Deed => ({ line: { ...(deed.line as object), ...under } });
  const { provider, request } = fakeClaude({
    turns: [
      [
        use("t1", "Agent", { prompt: "look" }),
        nested(said({ type: "text", text: "Looking." })),
        stream({ type: "content_block_delta", delta: { type: "text_delta", text: "Loo" } }, under),
        nested(use("t2", "Bash", { command: "ls" })),
        nested(done("t2", "a b")),
        done("t1", [{ type: "text", text: "found" }, { type: "image" }]),
        ...hello,
      ],
    ],
  });
  const events = await all(provider().generate(request([user("Go")])));
  expect(only(events, "tool_call").map(({ id }) => id)).toEqual(["t1", "t2"]);
  expect(only(events, "tool_result").map(({ id, output }) => [id, output])).toEqual([
    ["t2", "a b"],
    ["t1", "found\n[image]"],
  ]);
  expect(only(events, "text").map(({ text }) => text)).toEqual(["Hel", "lo."]);
});

test("[CLD14] a permission is asked for once its call is told, and answered in the program's words", async () => {
  const fake = fakeClaude({
    turns: [[{ ask: bash }, use("t1", "Bash", bash.input), done("t1", "ok"), ...hello]],
  });
  for (const answer of ["allow", "deny"] as const) {
    fake.answer = answer;
    const events = await all(fake.provider().generate(fake.request([user("Go")], { key: answer })));
    expect(only(events, "tool_call")).toHaveLength(1);
    expect(events.at(-1)).toEqual({ type: "finish", reason: "stop" });
  }
  expect(fake.asked[0]).toMatchObject({ id: "t1", name: "Bash", arguments: '{"command":"make"}' });
  expect(fake.got("control_response").map(({ response }) => response)).toEqual([
    { subtype: "success", request_id: "ask-1", response: { behavior: "allow", updatedInput: bash.input } },
    { subtype: "success", request_id: "ask-1", response: { behavior: "deny", message: expect.any(String) } },
  ]);
});

test("[CLD15] always is for the session and for what was asked: no file, no mode, no directory", async () => {
  const rules = [{ toolName: "Bash", ruleContent: "make *" }];
  const permission_suggestions = [
    { type: "addRules", rules, behavior: "allow", destination: "localSettings" },
    { type: "addDirectories", directories: ["/"], destination: "session" },
    { type: "setMode", mode: "acceptEdits", destination: "session" },
  ];
  const fake = fakeClaude({ turns: [[{ ask: { ...bash, permission_suggestions } }, ...hello]] });
  fake.answer = "always";
  await all(fake.provider().generate(fake.request([user("Go")])));
  expect(fake.got("control_response")).toMatchObject([
    {
      response: {
        response: {
          behavior: "allow",
          updatedPermissions: [{ type: "addRules", rules, behavior: "allow", destination: "session" }],
        },
      },
    },
  ]);
});

test("[CLD16] a request that it withdraws gets no answer, and one that is no permission is refused", async () => {
  const fake = fakeClaude({
    turns: [[{ ask: { ...bash, withdrawn: true } }, { ask: { subtype: "elicitation" } }, ...hello], hello],
  });
  let answer: (given: PermissionAnswer) => void = () => {};
  fake.answer = new Promise((resolve) => {
    answer = resolve;
  });
  const asking = fake.provider();
  const events = await all(asking.generate(fake.request([user("Go")])));
  expect(events.at(-1)).toEqual({ type: "finish", reason: "stop" });
  expect(fake.asked.map(({ signal }) => signal?.aborted)).toEqual([true]);
  answer("allow");
  await all(
    asking.generate(fake.request([user("Go"), assistant("Hello."), user("On")], { session: session(2) })),
  );
  expect(fake.got("control_response").map(({ response }) => response)).toEqual([
    { subtype: "error", request_id: "ask-2", error: "elicitation is not supported" },
  ]);
});

test("[CLD17] the bridge is given over the protocol; its tools have Heddle's names and need no asking", async () => {
  const name = "mcp__heddle__lists_add";
  const ask = { tool_name: name, tool_use_id: "t1", input: { item: "milk" }, mcp_server: { name: "heddle" } };
  const fake = fakeClaude({
    turns: [[use("t1", name, ask.input), { ask }, done("t1", "added"), ...hello]],
    tools: [name],
  });
  const events = await all(fake.provider().generate(fake.request([user("Go")], { bridge, ownTools: false })));
  expect(only(events, "tool_call")).toEqual([
    { type: "tool_call", id: "t1", name: "lists_add", arguments: '{"item":"milk"}' },
  ]);
  expect(fake.asked).toEqual([]);
  expect(fake.got("control_response")).toMatchObject([{ response: { response: { behavior: "allow" } } }]);
  expect(fake.got("control_request")[1]).toMatchObject({
    request: {
      subtype: "mcp_set_servers",
      servers: {
        heddle: {
          type: "http",
          url: bridge.url,
          headers: { Authorization: "Bearer first-token" },
          alwaysLoad: true,
        },
      },
    },
  });
  const [{ args, env } = {}] = fake.log();
  expect(JSON.stringify([args, env])).not.toContain("first-token");
});

test("[CLD18] a bridge that changed is connected anew in the same process; one out of reach fails the turn", async () => {
  const fake = fakeClaude({ turns: [hello] });
  const asking = fake.provider();
  await all(asking.generate(fake.request([user("Q1")], { bridge })));
  const messages = [user("Q1"), assistant("Hello."), user("Q2")];
  const changed = { bridge: { ...bridge, token: "second-token" }, session: session(2) };
  const events = await all(asking.generate(fake.request(messages, changed)));
  expect(only(events, "request")[0]?.delivery?.session).toBe("kept");
  const servers = fake.got("control_request").map(({ request }) => (request as { servers?: object }).servers);
  expect(servers.slice(1).map((one) => JSON.stringify(one).match(/\w+-token/)?.[0])).toEqual([
    "first-token",
    undefined,
    "second-token",
  ]);
  fake.play({ turns: [hello], bridgeErrors: { heddle: "ECONNREFUSED first-token" } });
  const failed = await all(fake.provider().generate(fake.request([user("Q1")], { bridge, key: "other" })));
  expect(failed.at(-1)).toMatchObject({ type: "failed", code: "program.failed" });
  expect(JSON.stringify(failed.at(-1))).toMatch(/tools of Heddle: ECONNREFUSED \[redacted\]/);
});

test("[CLD19] own tools are switched off by its options, and what it asks for all the same is denied", async () => {
  const fake = fakeClaude({ turns: [[{ ask: bash }, ...hello]] });
  await all(fake.provider().generate(fake.request([user("Go")], { ownTools: false })));
  const [{ args = [] } = {}] = fake.log();
  expect(args[args.indexOf("--tools") + 1]).toBe("");
  expect(args).toEqual(
    expect.arrayContaining([
      "--strict-mcp-config",
      "--disable-slash-commands",
      '--settings={"disableAllHooks":true}',
    ]),
  );
  expect(fake.asked).toEqual([]);
  expect(fake.got("control_response")).toMatchObject([{ response: { response: { behavior: "deny" } } }]);
});

test("[CLD20] one that keeps tools of its own although they were switched off is refused", async () => {
  const fake = fakeClaude({ turns: [[{ hang: true }]], tools: ["mcp__heddle__x", "Bash"] });
  const events = await all(fake.provider().generate(fake.request([user("Go")], { ownTools: false })));
  expect(events.at(-1)).toMatchObject({ type: "failed", code: "program.unlimited", retryable: false });
  expect(JSON.stringify(events.at(-1))).toContain("Bash");
});

test("[CLD29] a list of things to do is a plan", async () => {
  const input = { todos: [{ content: "a", status: "pending" }] };
  const fake = fakeClaude({ turns: [[use("t1", "TodoWrite", input), done("t1", "ok"), ...hello]] });
  const events = await all(fake.provider().generate(fake.request([user("Go")])));
  expect(only(events, "tool_call")).toMatchObject([{ name: "plan", arguments: JSON.stringify(input) }]);
  expect(only(events, "tool_result")).toMatchObject([{ id: "t1", failed: false }]);
});

test("[CLD34] a tool that takes long is no silence", async () => {
  const beat: Deed = {
    line: { type: "tool_progress", tool_use_id: "t1-heartbeat-0", parent_tool_use_id: "t1", heartbeat: true },
  };
  const fake = fakeClaude({ turns: [[use("t1", "Bash", {}), beat, beat, done("t1", "ok"), ...hello]] });
  const events = await all(fake.provider().generate(fake.request([user("Go")])));
  expect(only(events, "tool_output")).toEqual([
    { type: "tool_output", id: "t1", text: "" },
    { type: "tool_output", id: "t1", text: "" },
  ]);
});
